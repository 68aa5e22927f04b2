import { actionsOf } from '#api/pipeline/actions.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import { findArchivedRefusal, findUnarchivingRefusal } from '#domain/shared/archiving.ts';
import type { Used } from '#domain/shared/ownership-graph/blockers.ts';

/** What a caller may do with an organization. */
export const organizationActions = actionsOf<OrganizationTarget & Used>()({
  update: { operation: 'organizations.update', findRefusal: findArchivedRefusal },
  archive: { operation: 'organizations.archive', findRefusal: ({ archiving }) => archiving },
  unarchive: {
    operation: 'organizations.unarchive',
    findRefusal: (organization) => findUnarchivingRefusal('organization', organization),
  },
  transfer: { operation: 'organizations.transfer', findRefusal: findArchivedRefusal },
  delete: { operation: 'organizations.delete', findRefusal: ({ deletion }) => deletion },
  set_members: { operation: 'organization_members.set', findRefusal: findArchivedRefusal },
  remove_members: { operation: 'organization_members.remove' },
  invite: { operation: 'organization_invitations.create', findRefusal: findArchivedRefusal },
  create_team: { operation: 'teams.create', findRefusal: findArchivedRefusal },
});
