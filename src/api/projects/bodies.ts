import { z } from 'zod';
import { changesOf } from '#api/pipeline/fields.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';

/** The descriptive members of a project. */
export const projectBody = {
  name: ResourceName,
  slug: Slug.optional(),
  description: z.string().max(4_000).default(''),
};

export const CreateProject = z.strictObject({ team_id: Id, ...projectBody }).meta({ id: 'CreateProject' });

export const UpdateProject = z
  .strictObject({ ...changesOf(projectBody), ...ExpectedRevision })
  .meta({ id: 'UpdateProject' });

export const TransferProject = z.strictObject({ team_id: Id, ...ExpectedRevision }).meta({ id: 'TransferProject' });
