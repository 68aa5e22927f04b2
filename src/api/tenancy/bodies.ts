import { z } from 'zod';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { type Renaming, ResourceName, Slug } from '#domain/tenancy/model.ts';

/** The bodies of requests that make or rename an organization or a team. */

export const CreateNamed = z.strictObject({ name: ResourceName, slug: Slug.optional() }).meta({ id: 'CreateNamed' });
export const RenameNamed = z
  .strictObject({
    name: ResourceName.optional(),
    slug: Slug.optional(),
    ...ExpectedRevision,
  })
  .meta({ id: 'RenameNamed' });

export function toRenaming({ expected_revision: expectedRevision, ...names }: z.output<typeof RenameNamed>): Renaming {
  return { ...names, expectedRevision };
}
