import { z } from 'zod';
import { OrganizationName, readAccess } from '#api/organizations/operations.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import { OrganizationMemberView, viewMember } from '#api/tenancy/views.ts';
import type { Em } from '#database/database.ts';
import { toChange } from '#database/row-lock.ts';
import { listMembers, lockMember, membershipLocks, organizationMembers } from '#domain/members/members.ts';
import {
  type MemberChange,
  removeOrganizationMember,
  setOrganizationMember,
} from '#domain/members/organization-members.ts';
import { type OrganizationRole, organizationRoles } from '#domain/organizations/model.ts';
import { findOrganization } from '#domain/organizations/store.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { Forbidden } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging.ts';

const MemberParams = z.strictObject({ orgID: OrganizationName, userID: Id });

const manageAccess: Access = {
  anyOf: ['organization:write'],
  scope: 'organization',
  organizationRole: 'admin',
  hidden: 'not_found',
  review: { inherits: 'organizations.update' },
};

/** Whoever's authority is to change is locked first, then the organization, so that its owners change one at a time. */
async function findForMember(em: Em, { orgID, userID }: z.output<typeof MemberParams>, lock: boolean) {
  const joiner = await lockMember(em, userID, toChange(lock));
  const organization = await findOrganization(em, orgID, toChange(lock));
  return organization && { ...organization, joiner: joiner && { ...joiner, id: userID } };
}

export const list = read({
  id: 'organization_members.list',
  route: 'GET /api/v1/organizations/:orgID/members',
  summary: 'List the members of an organization',
  params: z.strictObject({ orgID: OrganizationName }),
  query: z.strictObject(pageQuery),
  responses: { 200: pageOf('members', OrganizationMemberView) },
  access: { ...readAccess, review: { inherits: 'organizations.get' } },
  target: ({ em, params }) => findOrganization(em, params.orgID),
  targetName: 'organization',
  handle: async ({ em, target, query }) => {
    const page = await listMembers<OrganizationRole>(em, organizationMembers, target.id, query);
    return { members: page.items.map(viewMember), next_cursor: page.nextCursor };
  },
});

export const set = command({
  id: 'organization_members.set',
  route: 'PUT /api/v1/organizations/:orgID/members/:userID',
  summary: 'Let a user or a service account join an organization, or give a member another role; none above your own',
  params: MemberParams,
  body: z.strictObject({ role: z.enum(organizationRoles) }),
  responses: { 200: OrganizationMemberView },
  access: manageAccess,
  target: ({ em, params, lock }) => findForMember(em, params, lock),
  targetName: 'organization',
  idempotency: 'none',
  locks: membershipLocks,
  audit: 'organization_member.set',
  handle: async ({ tx, principal, target, params, body }) => {
    if (!target.joiner) throw new Forbidden('permission denied: there is no such user, or you may not see them');
    const change = await setOrganizationMember(tx.em, principal, target, target.joiner, body.role);
    return { ...describe(params.userID, change), answer: viewMember(change.after) };
  },
});

export const remove = command({
  id: 'organization_members.remove',
  route: 'DELETE /api/v1/organizations/:orgID/members/:userID',
  summary: 'End a membership of an organization, and those of its teams with it',
  params: MemberParams,
  responses: { 204: Nothing },
  access: manageAccess,
  target: ({ em, params, lock }) => findForMember(em, params, lock),
  targetName: 'organization',
  idempotency: 'none',
  locks: membershipLocks,
  audit: 'organization_member.removed',
  handle: async ({ tx, principal, target, params }) => {
    const change = await removeOrganizationMember(tx.em, principal, target, params.userID);
    return describe(params.userID, change);
  },
});

/** Who was what before and is what now, as history keeps it. */
function describe(userId: string, { before, after }: MemberChange<OrganizationRole>) {
  const facts = (member: MemberChange<OrganizationRole>['after']) =>
    member && { role: member.role, membershipId: member.id };
  return { id: userId, before: facts(before), after: facts(after) };
}
