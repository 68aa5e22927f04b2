import { z } from 'zod';
import { OrganizationName, OrganizationParams, readAccess } from '#api/organizations/operations.ts';
import { findOrganization, findOrganizationToChange } from '#domain/organizations/store.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { organizationRoles } from '#domain/shared/vocabulary/roles.ts';
import { memberOperations } from './member-operations.ts';
import { OrganizationMemberDetailsView, OrganizationMemberView } from './views.ts';

const manageAccess: Access = {
  anyOf: ['organization:write'],
  scope: 'organization',
  organizationRole: 'admin',
  hidden: 'not_found',
  review: { inherits: 'organizations.update' },
};

const SetOrganizationMember = z
  .strictObject({ role: z.enum(organizationRoles), ...ExpectedRevision })
  .meta({ id: 'SetOrganizationMember' });

export const { list, get, set, remove } = memberOperations({
  level: 'organization',
  path: '/api/v1/organizations/:orgID/members',
  ownerParams: OrganizationParams,
  memberParams: z.strictObject({ orgID: OrganizationName, userID: Id }),
  body: SetOrganizationMember,
  view: OrganizationMemberView,
  details: OrganizationMemberDetailsView,
  summaries: {
    list: 'List the members of an organization',
    set:
      'Add a user who shares an organization with you, or a service account that you may read, or change the role of a member; ' +
      'you can grant no role above your own',
    get: 'Read the membership of one member of an organization',
    remove: 'End a membership of an organization and of all its teams; people may leave by themselves',
  },
  access: {
    list: { ...readAccess, review: { inherits: 'organizations.get' } },
    set: manageAccess,
    remove: manageAccess,
    leave: { ...readAccess, anyOf: ['profile:manage'], principals: ['user'], review: 'none' },
  },
  find: (em, { orgID }) => findOrganization(em, orgID),
  findToChange: (em, { orgID }, lock) => findOrganizationToChange(em, orgID, lock),
});
