import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import type { Em } from '#database/database.ts';
import { findArchivedRefusal, findUnarchivingRefusal } from '#domain/shared/archiving.ts';
import type { Used } from '#domain/shared/ownership-graph/blockers.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { withUse } from '#domain/tenancy/use.ts';

/** What a caller may do with a team. */
const teamActions = actionsOf<TeamTarget & Used>()({
  update: { operation: 'teams.update', findRefusal: findArchivedRefusal },
  archive: { operation: 'teams.archive', findRefusal: ({ archiving }) => archiving },
  unarchive: { operation: 'teams.unarchive', findRefusal: (team) => findUnarchivingRefusal('team', team) },
  transfer: { operation: 'teams.transfer', findRefusal: findArchivedRefusal },
  delete: { operation: 'teams.delete', findRefusal: ({ deletion }) => deletion },
  set_members: { operation: 'team_members.set', findRefusal: findArchivedRefusal },
  remove_members: { operation: 'team_members.remove' },
  invite: { operation: 'team_invitations.create', findRefusal: findArchivedRefusal },
  create_project: { operation: 'projects.create', findRefusal: findArchivedRefusal },
  create_service_account: { operation: 'service_accounts.create', findRefusal: findArchivedRefusal },
});

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
