import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import type { Em } from '#database/database.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import { findArchivedRefusal, findUnarchivingRefusal } from '#domain/shared/archiving.ts';
import type { Used } from '#domain/shared/ownership-graph/blockers.ts';
import { withUse } from '#domain/tenancy/use.ts';

/** What a caller may do with an organization. */
const organizationActions = actionsOf<OrganizationTarget & Used>()({
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

/** An organization in a list. */
export const ListedOrganizationView = z.object(commonFields).meta({ id: 'ListedOrganization' });

/** An organization in every answer about one organization. */
export const OrganizationView = z
  .object({ ...commonFields, actions: organizationActions.view })
  .meta({ id: 'Organization' });

export function viewOrganization(organization: OrganizationTarget) {
  return viewCommon(organization);
}

/** Shows one organization with the actions that the caller may take. */
export async function showOrganization(em: Em, context: ActionContext, organization: OrganizationTarget) {
  const used = await withUse(em, context.principal, 'organization', organization);
  return { ...viewOrganization(organization), actions: organizationActions.describe(context, used) };
}
