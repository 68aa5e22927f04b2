import { z } from 'zod';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import type { TeamTarget } from '#domain/teams/store.ts';

export const TeamView = z.object({ ...commonFields, organization_id: z.string() });

export function viewTeam(team: TeamTarget) {
  return { ...viewCommon(team), organization_id: team.organizationId };
}
