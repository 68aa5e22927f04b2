import { actionsOf } from '#api/pipeline/actions.ts';
import { findArchivedRefusal, findUnarchivingRefusal } from '#domain/shared/archiving.ts';
import type { Used } from '#domain/shared/ownership-graph/blockers.ts';
import type { TeamTarget } from '#domain/teams/store.ts';

/** What a caller may do with a team. */
export const teamActions = actionsOf<TeamTarget & Used>()({
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
