import { z } from 'zod';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';

export const ProjectView = z.object({
  ...commonFields,
  organization_id: z.string(),
  team_id: z.string(),
  description: z.string(),
});

export function viewProject(project: ProjectTarget) {
  const { organizationId, teamId, description } = project;
  return { ...viewCommon(project), organization_id: organizationId, team_id: teamId, description };
}
