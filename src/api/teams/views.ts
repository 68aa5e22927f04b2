import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import type { Em } from '#database/database.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { withUse } from '#domain/tenancy/use.ts';
import { teamActions } from './actions.ts';

const fields = { ...commonFields, organization_id: AnswerId };

/** A team in a list. */
export const ListedTeamView = z.object(fields).meta({ id: 'ListedTeam' });

/** A team in every answer about one team. */
export const TeamView = z.object({ ...fields, actions: teamActions.view }).meta({ id: 'Team' });

export function viewTeam(team: TeamTarget) {
  return { ...viewCommon(team), organization_id: team.organizationId };
}

/** Shows one team with the actions that the caller may take. */
export async function showTeam(em: Em, context: ActionContext, team: TeamTarget) {
  const used = await withUse(em, context.principal, 'team', team);
  return { ...viewTeam(team), actions: teamActions.describe(context, used) };
}
