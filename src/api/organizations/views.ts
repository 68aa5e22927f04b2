import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import type { Em } from '#database/database.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import { withUse } from '#domain/tenancy/use.ts';
import { organizationActions } from './actions.ts';

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
