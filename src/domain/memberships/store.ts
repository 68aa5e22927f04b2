import { type AliasedExpression, type ExpressionBuilder, expressionBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { RowLock } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { lockAgainstUse } from '#domain/shared/access/authority-lock.ts';
import { newId } from '#domain/shared/ids.ts';
import { findNames } from '#domain/shared/ownership-graph/names.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import type { Member, MemberRoles, MembershipLevel } from './model.ts';

/** A row of either table of memberships. */
interface Membership {
  readonly id: string;
  readonly ownerId: string;
  readonly principalId: string;
  readonly role: MemberRoles[MembershipLevel];
  readonly revision: number;
  readonly createdAt: string;
}

const eb = expressionBuilder<Tables, never>();

const memberships: Record<MembershipLevel, AliasedExpression<Membership, 'm'>> = {
  organization: eb
    .selectFrom('organization_members')
    .select(['id', 'organizationId as ownerId', 'principalId', 'role', 'revision', 'createdAt'])
    .as('m'),
  team: eb
    .selectFrom('team_members')
    .select(['id', 'teamId as ownerId', 'principalId', 'role', 'revision', 'createdAt'])
    .as('m'),
};

/** The memberships of a level, as `m`. */
export function membershipsOf(level: MembershipLevel): AliasedExpression<Membership, 'm'> {
  return memberships[level];
}

function selectMembers<Level extends MembershipLevel>(em: Em, level: Level, ownerId: string) {
  return db(em)
    .selectFrom(membershipsOf(level))
    .innerJoin('principals as p', 'p.id', 'm.principalId')
    .leftJoin('users as u', 'u.id', 'p.id')
    .where('m.ownerId', '=', ownerId)
    .where('p.deletedAt', 'is', null)
    .select([
      'm.id',
      'p.kind as type',
      'p.id as userId',
      'p.name',
      'u.email',
      'p.enabled',
      'm.role',
      'm.revision',
      'm.createdAt',
    ])
    .$castTo<Member<MemberRoles[Level]>>();
}

export function listMembers<Level extends MembershipLevel>(
  em: Em,
  level: Level,
  ownerId: string,
  request: PageRequest,
): Promise<Page<Member<MemberRoles[Level]>>> {
  return pageOf(selectMembers(em, level, ownerId), 'm.id', request);
}

export function findMember<Level extends MembershipLevel>(
  em: Em,
  level: Level,
  ownerId: string,
  userId: string,
): Promise<Member<MemberRoles[Level]> | undefined> {
  return selectMembers(em, level, ownerId).where('p.id', '=', userId).executeTakeFirst();
}

/** Whether the user with an e-mail address is a member. */
export async function isMemberByEmail(
  em: Em,
  level: MembershipLevel,
  ownerId: string,
  emailKey: string,
): Promise<boolean> {
  const found = await db(em)
    .selectFrom('users as u')
    .innerJoin(membershipsOf(level), 'm.principalId', 'u.id')
    .where('u.emailKey', '=', emailKey)
    .where('m.ownerId', '=', ownerId)
    .select('m.id')
    .executeTakeFirst();
  return found !== undefined;
}

/** Whether a principal is a member of any team of an organization. */
export async function isInTeamOf(em: Em, organizationId: string, principalId: string): Promise<boolean> {
  const found = await db(em)
    .selectFrom('team_members as m')
    .innerJoin('teams as t', 't.id', 'm.teamId')
    .where('m.principalId', '=', principalId)
    .where('t.organizationId', '=', organizationId)
    .where('t.deletedAt', 'is', null)
    .select('m.id')
    .executeTakeFirst();
  return found !== undefined;
}

interface NewMember<Role extends string> {
  readonly ownerId: string;
  readonly principalId: string;
  readonly role: Role;
}

/** The values for a new row of either table. A membership begins after the highest revision of those that ended. */
function columnsOf<Role extends string>(
  owners: ExpressionBuilder<Tables, never>,
  level: MembershipLevel,
  { ownerId, principalId, role }: NewMember<Role>,
) {
  const revision = owners
    .selectFrom(`${level}s`)
    .where('id', '=', ownerId)
    .select((of) => of('removedMemberRevision', '+', 1).as('first'))
    .$asScalar()
    .$notNull();
  return { id: newId(), principalId, role, revision, createdAt: sql<string>`clock_timestamp()` };
}

const inserts: {
  readonly [Level in MembershipLevel]: (em: Em, member: NewMember<MemberRoles[Level]>) => Promise<unknown>;
} = {
  organization: (em, member) =>
    db(em)
      .insertInto('organization_members')
      .values({ ...columnsOf(eb, 'organization', member), organizationId: member.ownerId })
      .execute(),
  team: (em, member) =>
    db(em)
      .insertInto('team_members')
      .values({ ...columnsOf(eb, 'team', member), teamId: member.ownerId })
      .execute(),
};

/** Adds a member; the caller has locked the owner's row and has checked that there is no such member yet. */
export async function addMember<Level extends MembershipLevel>(
  em: Em,
  level: Level,
  member: NewMember<MemberRoles[Level]>,
): Promise<void> {
  await inserts[level](em, member);
}

/** Makes a principal a member of an organization; an existing member keeps their role. */
export async function ensureOrganizationMember(em: Em, organizationId: string, principalId: string): Promise<void> {
  const member = columnsOf(eb, 'organization', { ownerId: organizationId, principalId, role: 'member' as const });
  await db(em)
    .insertInto('organization_members')
    .values({ ...member, organizationId })
    .onConflict((conflict) => conflict.columns(['principalId', 'organizationId']).doNothing())
    .execute();
}

const roleChanges: {
  readonly [Level in MembershipLevel]: (em: Em, id: string, role: MemberRoles[Level]) => Promise<unknown>;
} = {
  organization: (em, id, role) =>
    db(em)
      .updateTable('organization_members')
      .set((of) => ({ role, revision: of('revision', '+', 1) }))
      .where('id', '=', id)
      .execute(),
  team: (em, id, role) =>
    db(em)
      .updateTable('team_members')
      .set((of) => ({ role, revision: of('revision', '+', 1) }))
      .where('id', '=', id)
      .execute(),
};

export async function changeRole<Level extends MembershipLevel>(
  em: Em,
  level: Level,
  membershipId: string,
  role: MemberRoles[Level],
): Promise<void> {
  await roleChanges[level](em, membershipId, role);
}

/** Makes an owner of an organization an admin; other members keep their roles. */
export async function demoteOwner(em: Em, organizationId: string, principalId: string): Promise<void> {
  await db(em)
    .updateTable('organization_members')
    .set((of) => ({ role: 'admin', revision: of('revision', '+', 1) }))
    .where('organizationId', '=', organizationId)
    .where('principalId', '=', principalId)
    .where('role', '=', 'owner')
    .execute();
}

/** The names of a team's members who are not in an organization: the first few, and one more if there are more. */
export function findMembersOutside(em: Em, teamId: string, organizationId: string): Promise<string[]> {
  const strangers = db(em)
    .selectFrom('principals as x')
    .innerJoin('team_members as m', 'm.principalId', 'x.id')
    .where('m.teamId', '=', teamId)
    .where('x.deletedAt', 'is', null)
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom('organization_members as o')
            .whereRef('o.principalId', '=', 'x.id')
            .where('o.organizationId', '=', organizationId)
            .select('o.id'),
        ),
      ),
    )
    .orderBy('x.id')
    .select('x.name');
  return findNames(strangers);
}

/** A user or a service account to become a member. */
export interface MemberPrincipal {
  readonly id: string;
  readonly kind: 'user' | 'service_account';
  readonly role: PlatformRole | null;
  /** The team that owns a service account. */
  readonly ownerTeamId: string | null;
}

/**
 * Locks a user or service account whose authority a command changes, before the organization and the team
 * (docs/architecture.md, *A command*). The row is locked and then read, because a service account may get another owner while this waits.
 * Undefined if there is no such principal.
 */
export async function findMemberPrincipal(
  em: Em,
  principalId: string,
  lock: RowLock,
): Promise<MemberPrincipal | undefined> {
  const locked = lock && lockAgainstUse(em, principalId);
  const found = db(em)
    .selectFrom('principals as p')
    .leftJoin('service_accounts as a', 'a.id', 'p.id')
    .where('p.id', '=', principalId)
    .where((of) => of.or([of('p.kind', '=', 'user'), of('p.kind', '=', 'service_account')]))
    .where('p.deletedAt', 'is', null)
    .select(['p.id', 'p.kind', 'p.role', 'a.ownerTeamId'])
    .$narrowType<{ kind: MemberPrincipal['kind'] }>()
    .executeTakeFirst();
  const [joiner] = await Promise.all([found, locked]);
  return joiner;
}
