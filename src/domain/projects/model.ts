import { z } from 'zod';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';

const Description = z.string().max(4_000);

export const CreateProject = z.strictObject({
  team_id: Id,
  name: ResourceName,
  slug: Slug.optional(),
  description: Description.default(''),
});

export const UpdateProject = z.strictObject({
  name: ResourceName.optional(),
  slug: Slug.optional(),
  description: Description.optional(),
  ...ExpectedRevision,
});

export const TransferProject = z.strictObject({ team_id: Id, ...ExpectedRevision });
