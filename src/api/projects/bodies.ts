import { z } from 'zod';
import type { NewProject, ProjectChange } from '#domain/projects/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';

const Description = z.string().max(4_000);

export const CreateProject = z
  .strictObject({
    team_id: Id,
    name: ResourceName,
    slug: Slug.optional(),
    description: Description.default(''),
  })
  .meta({ id: 'CreateProject' });

export function toNewProject({ team_id: _team, ...project }: z.output<typeof CreateProject>): NewProject {
  return project;
}

export const UpdateProject = z
  .strictObject({
    name: ResourceName.optional(),
    slug: Slug.optional(),
    description: Description.optional(),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateProject' });

export function toProjectChange(body: z.output<typeof UpdateProject>): ProjectChange {
  const { expected_revision: expectedRevision, ...change } = body;
  return { ...change, expectedRevision };
}

export const TransferProject = z.strictObject({ team_id: Id, ...ExpectedRevision }).meta({ id: 'TransferProject' });
