import type { Em } from '#database/database.ts';
import { pgArray } from '#database/errors.ts';
import type { RowLock } from '#database/row-lock.ts';
import type { PlatformRole } from '#domain/identity/model.ts';
import { decidePermission, isPlatformAdministrator, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { selectPage } from '#domain/shared/list.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import { type Archivable, tenancy } from '#domain/tenancy/archiving.ts';

/** A service account as decisions and answers need it. */
export interface AccountTarget extends Ownership, Archivable {
  readonly id: string;
  readonly name: string;
  readonly role: PlatformRole;
  readonly enabled: boolean;
  readonly ownerUserId: string | null;
  /** Whether the user who owns it can act; true of a team. */
  readonly ownerEnabled: boolean;
  readonly createdBy: string;
  readonly eligibilityGeneration: number;
  readonly revision: number;
  readonly createdAt: string;
}

const ownerEnabled = '(a.owner_user_id is null or coalesce(u.enabled and u.deleted_at is null, false))';

const selectAccounts = `
  select p.id, p.name, p.role, p.enabled, a.owner_user_id as "ownerUserId", a.owner_team_id as "teamId",
         t.organization_id as "organizationId", ${ownerEnabled} as "ownerEnabled", a.created_by as "createdBy",
         p.eligibility_generation as "eligibilityGeneration", p.revision, p.created_at as "createdAt",
         ${tenancy('team').archived}
    from principals p join service_accounts a on a.id = p.id left join principals u on u.id = a.owner_user_id
    left join teams t on t.id = a.owner_team_id left join organizations o on o.id = t.organization_id
   where p.deleted_at is null`;

/**
 * A service account by id. Inside a command its row is locked first, then its owner's: whatever waits for a transfer goes
 * on with the owner that came of it, since it reads only afterwards. Sent together, carried out one after the other.
 */
export async function findAccount(em: Em, id: string, lock: RowLock = false): Promise<AccountTarget | undefined> {
  const locks = lock ? lockAccount(em, id, lock) : [];
  const [rows] = await Promise.all([em.execute<AccountTarget[]>(`${selectAccounts} and p.id = ?`, [id]), ...locks]);
  return rows[0];
}

/** Principals, then the organization and the team. */
function lockAccount(em: Em, id: string, lock: RowLock): Promise<unknown>[] {
  const strength = lock === 'change' ? 'no key update' : 'share';
  return [
    em.execute(`select 1 from principals where id = ? for ${strength}`, [id]),
    em.execute(
      `select 1 from principals where id = (select owner_user_id from service_accounts where id = ?) for share`,
      [id],
    ),
    em.execute(
      `select 1 from organizations o join teams t on t.organization_id = o.id
        where t.id = (select owner_team_id from service_accounts where id = ?) for share of o, t`,
      [id],
    ),
  ];
}

/** An account whose owner cannot act is for those who manage users to hand on: nobody else could. */
export function maySucceed(principal: Principal, account: AccountTarget): boolean {
  return account.ownerUserId !== null && !account.ownerEnabled && managesUsers(principal);
}

function managesUsers(principal: Principal): boolean {
  const access = { anyOf: ['user:manage'], scope: 'platform', hidden: 'not_found', review: 'none' } as const;
  return decidePermission(principal, access).allowed;
}

interface Filter extends PageRequest {
  readonly owner_user_id?: string | undefined;
  readonly owner_team_id?: string | undefined;
  readonly enabled?: 'true' | 'false' | undefined;
}

/** The accounts that the principal may manage, or hand on to another owner. */
export function listAccounts(em: Em, principal: Principal, filter: Filter): Promise<Page<AccountTarget>> {
  const manageable = manageableSql(principal);
  const where = new Where()
    .and(manageable.sql, ...manageable.params)
    .andIf(filter.owner_user_id, 'a.owner_user_id = ?')
    .andIf(filter.owner_team_id, 'a.owner_team_id = ?')
    .andIf(filter.enabled, 'p.enabled = ?::boolean');
  return selectPage(em, selectAccounts, where, 'p.id', filter);
}

/** What `decide` says of service accounts, and `maySucceed`, as a condition of the list's query. */
function manageableSql(principal: Principal): { sql: string; params: unknown[] } {
  const owned = Object.keys(principal.teams).filter((id) => principal.teams[id] === 'owner');
  const conditions = ['a.owner_user_id = ?'];
  if (isPlatformAdministrator(principal)) conditions.push('a.owner_team_id is not null');
  else conditions.push('a.owner_team_id = any(?::uuid[])');
  if (managesUsers(principal)) conditions.push(`not ${ownerEnabled}`);
  const params = isPlatformAdministrator(principal) ? [principal.id] : [principal.id, pgArray(owned)];
  return { sql: conditions.join(' or '), params };
}
