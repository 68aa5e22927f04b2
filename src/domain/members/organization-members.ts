import type { Em } from '#database/database.ts';
import { revokeSent } from '#domain/invitations/invitations.ts';
import type { OrganizationRole } from '#domain/organizations/model.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict, Forbidden, NotFound } from '#domain/shared/errors.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { refuseArchived } from '#domain/tenancy/archiving.ts';
import { refuseAccountInOrganization } from './account-members.ts';
import { OrganizationMember } from './entity.ts';
import { mayGiveOrganizationRole } from './grants.ts';
import { addMember, findMember, hasOtherOwner, type Joiner, type Member, organizationMembers } from './members.ts';

/** Who was what before, and is what now; undefined: no member. */
export interface MemberChange<Role extends string> {
  readonly before: Member<Role> | undefined;
  readonly after: Member<Role> | undefined;
}

/** Who was what before, and is a member now. */
export interface MemberJoined<Role extends string> extends MemberChange<Role> {
  readonly after: Member<Role>;
}

/**
 * Lets a user or a service account join an organization, or gives a member another role. The caller holds their row and
 * the organization's.
 * @throws Forbidden where either role is above the caller's own
 * @throws Conflict where the organization would be left without an owner
 */
export async function setOrganizationMember(
  em: Em,
  caller: Principal,
  organization: OrganizationTarget,
  { id: userId, ...joiner }: Joiner & { readonly id: string },
  role: OrganizationRole,
): Promise<MemberJoined<OrganizationRole>> {
  const before = await find(em, organization.id, userId);
  refuseAboveOwn(caller, organization.id, before ? [before.role, role] : [role]);
  refuseArchived(organization);
  refuseAccountInOrganization(joiner, role);
  if (before?.role === role) return { before, after: before };
  if (before) await refuseLastOwner(em, organization.id, before);
  if (before) await em.nativeUpdate(OrganizationMember, { id: before.id }, { role });
  else await addMember(em, organizationMembers, organization.id, userId, role);
  return { before, after: await readBack(find(em, organization.id, userId)) };
}

/** Ends a membership, with those in the organization's teams and the invitations that it sent. Throws as `setOrganizationMember` does. */
export async function removeOrganizationMember(
  em: Em,
  caller: Principal,
  organization: OrganizationTarget,
  userId: string,
): Promise<MemberChange<OrganizationRole>> {
  const before = await find(em, organization.id, userId);
  if (!before) throw new NotFound('member');
  refuseAboveOwn(caller, organization.id, [before.role]);
  await refuseLastOwner(em, organization.id, before);
  await leaveTeams(em, organization.id, before);
  await em.nativeDelete(OrganizationMember, { id: before.id });
  await revokeSent(em, { organizationId: organization.id, teamId: null }, userId);
  return { before, after: undefined };
}

function find(em: Em, organizationId: string, userId: string): Promise<Member<OrganizationRole> | undefined> {
  return findMember<OrganizationRole>(em, organizationMembers, organizationId, userId);
}

function refuseAboveOwn(caller: Principal, organizationId: string, roles: readonly OrganizationRole[]): void {
  const above = roles.find((role) => !mayGiveOrganizationRole(caller, organizationId, role));
  if (above) {
    throw new Forbidden(
      `permission denied: the organization role ${above} is above your own, so it is not yours to give or take`,
    );
  }
}

async function refuseLastOwner(
  em: Em,
  organizationId: string,
  { userId, role }: Member<OrganizationRole>,
): Promise<void> {
  if (role !== 'owner' || (await hasOtherOwner(em, organizationMembers, organizationId, userId))) return;
  throw new Conflict('this is the last owner of the organization: make somebody else an owner first');
}

/** The organization's row is held, so that no team of it changes its owners meanwhile. */
async function leaveTeams(em: Em, organizationId: string, member: Member<OrganizationRole>): Promise<void> {
  if (member.type === 'user') await refuseLastOwnerOfTeams(em, organizationId, member.userId);
  await em.execute(
    `delete from team_members m using teams t
      where t.id = m.team_id and t.organization_id = ? and m.principal_id = ?`,
    [organizationId, member.userId],
  );
}

async function refuseLastOwnerOfTeams(em: Em, organizationId: string, userId: string): Promise<void> {
  const orphaned = await em.execute<{ slug: string }[]>(
    `select t.slug from teams t join team_members m on m.team_id = t.id and m.principal_id = ? and m.role = 'owner'
      where t.organization_id = ? and t.deleted_at is null and not exists (
        select 1 from team_members x join principals p on p.id = x.principal_id
         where x.team_id = t.id and x.role = 'owner' and x.principal_id <> ?
           and p.kind = 'user' and p.enabled and p.deleted_at is null)
      order by t.slug limit 5`,
    [userId, organizationId, userId],
  );
  if (orphaned.length === 0) return;
  const slugs = orphaned.map(({ slug }) => slug).join(', ');
  throw new Conflict(`this is the last owner of these teams: ${slugs}; make somebody else their owner first`);
}
