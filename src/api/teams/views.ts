import { z } from 'zod';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import type { TeamTarget } from '#domain/teams/store.ts';

export const TeamView = z.object({ ...commonFields, organization_id: AnswerId }).meta({ id: 'Team' });

export function viewTeam(team: TeamTarget) {
  return { ...viewCommon(team), organization_id: team.organizationId };
}
