import type { Em } from '#database/database.ts';
import type { RowLock } from '#database/row-lock.ts';
import type { PlatformRole } from '#domain/identity/model.ts';
import type { OrganizationRole } from '#domain/organizations/model.ts';
import { authorityLock, type Principal } from '#domain/shared/access/principal.ts';
import { newId } from '#domain/shared/ids.ts';
import { selectPage } from '#domain/shared/list.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import type { TeamRole } from '#domain/teams/model.ts';

/** A person or a service account in an organization or a team; `id` is the membership's, and fresh at every join. */
export interface Member<Role extends string> {
  readonly id: string;
  readonly type: 'user' | 'service_account';
  readonly userId: string;
  readonly name: string;
  readonly email: string | null;
  readonly enabled: boolean;
  readonly role: Role;
  readonly createdAt: string;
}

/** Where memberships are kept: the tables are alike. */
export interface MemberTable {
  readonly table: 'organization_members' | 'team_members';
  readonly owner: 'organization_id' | 'team_id';
}

export const organizationMembers: MemberTable = { table: 'organization_members', owner: 'organization_id' };
export const teamMembers: MemberTable = { table: 'team_members', owner: 'team_id' };

const selectMembers = ({ table }: MemberTable) => `
  select m.id, p.kind as type, p.id as "userId", p.name, u.email, p.enabled, m.role, m.created_at as "createdAt"
    from ${table} m join principals p on p.id = m.principal_id left join users u on u.id = p.id
   where p.deleted_at is null`;

export function listMembers<Role extends string>(
  em: Em,
  members: MemberTable,
  ownerId: string,
  request: PageRequest,
): Promise<Page<Member<Role>>> {
  const where = new Where().and(`m.${members.owner} = ?`, ownerId);
  return selectPage(em, selectMembers(members), where, 'm.id', request);
}

export async function findMember<Role extends string>(
  em: Em,
  members: MemberTable,
  ownerId: string,
  userId: string,
): Promise<Member<Role> | undefined> {
  const rows = await em.execute<Member<Role>[]>(`${selectMembers(members)} and m.${members.owner} = ? and p.id = ?`, [
    ownerId,
    userId,
  ]);
  return rows[0];
}

/** Adds somebody who is no member yet; the caller holds the owner's row. */
export async function addMember(
  em: Em,
  { table, owner }: MemberTable,
  ownerId: string,
  principalId: string,
  role: OrganizationRole | TeamRole,
): Promise<void> {
  await em.execute(
    `insert into ${table} (id, ${owner}, principal_id, role, created_at) values (?, ?, ?, ?, clock_timestamp())`,
    [newId(), ownerId, principalId, role],
  );
}

/** Whether somebody else who can act owns it as well: a person, since what only accounts owned would be nobody's. */
export async function hasOtherOwner(em: Em, members: MemberTable, ownerId: string, userId: string): Promise<boolean> {
  const [row] = await em.execute<[{ exists: boolean }]>(
    `select exists (select 1 from ${members.table} m join principals p on p.id = m.principal_id
                     where m.${members.owner} = ? and m.role = 'owner' and m.principal_id <> ?
                       and p.kind = 'user' and p.enabled and p.deleted_at is null)`,
    [ownerId, userId],
  );
  return row.exists;
}

/** Whoever may become a member. */
export interface Joiner {
  readonly kind: 'user' | 'service_account';
  readonly role: PlatformRole | null;
  /** The team that owns a service account. */
  readonly ownerTeamId: string | null;
}

/** The advisory locks of a change of somebody's membership. */
export function membershipLocks({ principal, params }: { principal: Principal; params: { userID: string } }): string[] {
  return [principal.id, params.userID].map(authorityLock);
}

/**
 * Locks a user or service account whose authority a command changes, before the organization and the team
 * (architecture.md of the design, *A command*). Undefined where there is none such. Locked and then read: a service
 * account may have been handed on while this waited.
 */
export async function lockMember(em: Em, principalId: string, lock: RowLock): Promise<Joiner | undefined> {
  const locked = lock && em.execute('select 1 from principals where id = ? for no key update', [principalId]);
  const [rows] = await Promise.all([
    em.execute<Joiner[]>(
      `select p.kind, p.role, a.owner_team_id as "ownerTeamId" from principals p left join service_accounts a on a.id = p.id
        where p.id = ? and p.kind in ('user', 'service_account') and p.deleted_at is null`,
      [principalId],
    ),
    locked,
  ]);
  return rows[0];
}
