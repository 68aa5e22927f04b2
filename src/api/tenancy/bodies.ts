import { z } from 'zod';
import { changesOf } from '#api/pipeline/fields.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';

/** The bodies of requests that create or rename an organization or a team. */

const named = { name: ResourceName, slug: Slug.optional() };

export const CreateNamed = z.strictObject(named).meta({ id: 'CreateNamed' });
export const RenameNamed = z.strictObject({ ...changesOf(named), ...ExpectedRevision }).meta({ id: 'RenameNamed' });
