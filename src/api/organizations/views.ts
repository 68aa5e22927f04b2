import { z } from 'zod';
import { commonFields, viewCommon } from '#api/tenancy/views.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';

export const OrganizationView = z.object(commonFields).meta({ id: 'Organization' });

export function viewOrganization(organization: OrganizationTarget) {
  return viewCommon(organization);
}
