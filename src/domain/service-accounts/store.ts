import { type Expression, type Kysely, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { lockRows } from '#database/row-lock.ts';
import type { RowOf } from '#database/tables.ts';
import { db, type Over, prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { managesUsers } from '#domain/shared/access/account-succession.ts';
import { lockAgainstUse, sharePrincipal, sharingAuthority } from '#domain/shared/access/authority-lock.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { PlatformRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { archivedLevels } from '#domain/tenancy/store.ts';

/** The columns of a service account that authorization and responses use. Times are strings. */
export type AccountTarget = RowOf<typeof selectAccounts>;

/** Service accounts `a` with their principals `p` that are not deleted, and the owner: the user `u`, or the team `t` in `o`. */
function selectAccounts(queries: Kysely<Tables>) {
  return queries
    .selectFrom('principals as p')
    .innerJoin('service_accounts as a', 'a.id', 'p.id')
    .leftJoin('principals as u', 'u.id', 'a.ownerUserId')
    .leftJoin('teams as t', 't.id', 'a.ownerTeamId')
    .leftJoin('organizations as o', 'o.id', 't.organizationId')
    .where('p.deletedAt', 'is', null)
    .select([
      'p.id',
      'p.name',
      'p.enabled',
      'a.ownerUserId',
      'a.ownerTeamId as teamId',
      't.organizationId',
      'a.createdBy',
      'p.revision',
      'p.createdAt',
    ])
    .select((eb) => [
      eb.ref('p.role').$castTo<PlatformRole>().as('role'),
      // Whether the user who owns it is enabled; true for a team's account.
      isOwnerEnabled(eb).as('ownerEnabled'),
      archivedLevels({ organization: eb.ref('o.archivedAt'), team: eb.ref('t.archivedAt') }).as('archived'),
    ]);
}

function isOwnerEnabled(eb: Over<{ a: 'service_accounts'; u: 'principals' }>) {
  const isEnabled = sql<boolean>`coalesce(${eb.ref('u.enabled')} and ${eb.ref('u.deletedAt')} is null, false)`;
  return sql<boolean>`(${eb.ref('a.ownerUserId')} is null or ${isEnabled})`;
}

const selectAccount = prepare((queries, parameter: ParameterOf<{ id: string }>) =>
  selectAccounts(queries).where('p.id', '=', parameter('id')),
);

/** A service account. `lock` takes share locks on its row and its owner's until the commit, so that it is not changed or transferred. */
export function findAccount(em: Em, id: string, lock = false): Promise<AccountTarget | undefined> {
  return readLocked(em, id, lock ? 'share' : null);
}

/** A service account to be changed. `lock` locks its row for a change, and takes a share lock on its owner's. */
export function findAccountToChange(em: Em, id: string, lock: boolean): Promise<AccountTarget | undefined> {
  return readLocked(em, id, lock ? 'change' : null);
}

/**
 * The account's row is locked first, then its owner's, and it is read last: a statement that has waited for a transfer reads the
 * new owner. The statements are sent together and run one after the other.
 */
async function readLocked(em: Em, id: string, lock: 'share' | 'change' | null): Promise<AccountTarget | undefined> {
  const locks = lock === null ? [] : lockAccount(em, id, lock);
  const [[account]] = await Promise.all([selectAccount(em, { id }), ...locks]);
  return account;
}

type AccountId = { id: string };

function ofAccount(queries: Kysely<Tables>, id: string) {
  return queries.selectFrom('service_accounts').where('id', '=', id);
}

const shareOwnerUser = prepare((queries, parameter: ParameterOf<AccountId>) =>
  sharingAuthority(queries, ofAccount(queries, parameter('id')).select('ownerUserId').$asScalar().$notNull()),
);

const shareOwnerTeam = prepare((queries, parameter: ParameterOf<AccountId>) =>
  lockRows(
    queries
      .selectFrom('organizations as o')
      .innerJoin('teams as t', 't.organizationId', 'o.id')
      .where('t.id', '=', ofAccount(queries, parameter('id')).select('ownerTeamId'))
      .select('t.id'),
    ['o', 't'],
    true,
  ),
);

/** Locks principals before the organization and the team. */
function lockAccount(em: Em, id: string, lock: 'share' | 'change'): Promise<unknown>[] {
  const account = lock === 'change' ? lockAgainstUse(em, id) : sharePrincipal(em, { id });
  return [account, shareOwnerUser(em, { id }), shareOwnerTeam(em, { id })];
}

export interface AccountFilter {
  readonly ownerUserId?: string | undefined;
  readonly ownerTeamId?: string | undefined;
  /** The accounts of the organization's teams. */
  readonly ownerOrganizationId?: string | undefined;
  readonly enabled?: boolean | undefined;
}

/** The accounts that the principal may manage, or transfer because their owner cannot act. */
export function listAccounts(
  em: Em,
  principal: Principal,
  { ownerUserId, ownerTeamId, ownerOrganizationId, enabled, ...request }: PageRequest & AccountFilter,
): Promise<Page<AccountTarget>> {
  const accounts = selectAccounts(db(em))
    .where((eb) => isManageable(eb, principal))
    .$if(ownerUserId !== undefined, (query) => query.where('a.ownerUserId', '=', ownerUserId ?? ''))
    .$if(ownerTeamId !== undefined, (query) => query.where('a.ownerTeamId', '=', ownerTeamId ?? ''))
    .$if(ownerOrganizationId !== undefined, (query) => query.where('t.organizationId', '=', ownerOrganizationId ?? ''))
    .$if(enabled !== undefined, (query) => query.where('p.enabled', '=', enabled ?? true));
  return pageOf(accounts, 'p.id', request);
}

/** The ids of the accounts that `listAccounts` lists to a principal that may read service accounts. */
export function manageableAccounts(em: Em, principal: Principal) {
  const accounts = selectAccounts(db(em)).where((eb) => isManageable(eb, principal));
  return db(em).selectFrom(accounts.as('managed')).select('managed.id');
}

/** The rules of `decide` for service accounts, and of `maySucceed`, as a condition of the list's query. */
function isManageable(eb: Over<{ a: 'service_accounts'; u: 'principals' }>, principal: Principal): Expression<SqlBool> {
  const owned = Object.keys(principal.teams).filter((id) => principal.teams[id] === 'owner');
  const ofTeam = isPlatformAdministrator(principal)
    ? eb('a.ownerTeamId', 'is not', null)
    : eb('a.ownerTeamId', '=', eb.fn.any(eb.val(owned)));
  const left = managesUsers(principal) ? [eb.not(isOwnerEnabled(eb))] : [];
  return eb.or([eb('a.ownerUserId', '=', principal.id), ofTeam, ...left]);
}

/** A user who may become an owner. `lock` takes a share lock on the row until the commit. */
export async function findOwnerUser(
  em: Em,
  id: string,
  lock: boolean,
): Promise<{ role: PlatformRole; enabled: boolean } | undefined> {
  const shared = lock && sharePrincipal(em, { id });
  const found = db(em)
    .selectFrom('principals')
    .where('id', '=', id)
    .where('kind', '=', 'user')
    .where('deletedAt', 'is', null)
    .select((eb) => [eb.ref('role').$castTo<PlatformRole>().as('role'), 'enabled'])
    .executeTakeFirst();
  const [user] = await Promise.all([found, shared]);
  return user;
}

/** A team that an account is a member of. */
export interface TeamOfAccount {
  readonly id: string;
  readonly slug: string;
  readonly organizationId: string;
}

/** The teams that an account is a member of. */
export function findTeamsOf(em: Em, accountId: string): Promise<TeamOfAccount[]> {
  return db(em)
    .selectFrom('team_members as m')
    .innerJoin('teams as t', (join) => join.onRef('t.id', '=', 'm.teamId').on('t.deletedAt', 'is', null))
    .where('m.principalId', '=', accountId)
    .select(['t.id', 't.slug', 't.organizationId'])
    .orderBy('t.id')
    .execute();
}

/** Sets the role of an account in all teams that it is a member of. */
export async function setTeamRoles(em: Em, accountId: string, role: TeamRole): Promise<void> {
  await db(em)
    .updateTable('team_members')
    .set((eb) => ({ role, revision: eb('revision', '+', 1) }))
    .where('principalId', '=', accountId)
    .execute();
}
