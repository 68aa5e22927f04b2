import { z } from 'zod';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';

export const ProjectView = z
  .object({
    ...commonFields,
    organization_id: AnswerId,
    team_id: AnswerId,
    description: z.string(),
  })
  .meta({ id: 'Project' });

export function viewProject(project: ProjectTarget) {
  const { organizationId, teamId, description } = project;
  return { ...viewCommon(project), organization_id: organizationId, team_id: teamId, description };
}
