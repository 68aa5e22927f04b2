import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { manageableAccounts } from '#domain/service-accounts/store.ts';
import { readAccountAccess } from '#domain/shared/access/account-access.ts';
import { managesUsers } from '#domain/shared/access/account-succession.ts';
import { decidePermission } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isNamed } from '#domain/shared/naming/name-match.ts';

/** Somebody whom a caller may choose by name. */
export interface KnownPerson {
  readonly type: 'user' | 'service_account';
  readonly id: string;
  readonly name: string;
  /** Null for a service account. */
  readonly email: string | null;
  readonly enabled: boolean;
}

/** The people to find. */
export interface PeopleQuery {
  /** A text in the name or the e-mail address, ignoring case, or the id or a part of it. Undefined: everybody. */
  readonly text?: string | undefined;
  readonly type?: KnownPerson['type'] | undefined;
  /** Only members of this organization, which the caller may see. */
  readonly organizationId?: string | undefined;
  /** Whether to include the service accounts that the caller may manage, which need not be members anywhere. */
  readonly withManaged?: boolean;
}

/** The maximum number of people that a search returns. */
export const maxFoundPeople = 20;

/**
 * Finds the people whom `knowsUser` lets the caller name, and service accounts: members of the caller's organizations, the caller, and all
 * users for callers who manage users. Other people are not found, whether they exist or not. Exact names and addresses come first.
 */
export async function findPeople(
  em: Em,
  caller: Principal,
  query: PeopleQuery,
): Promise<{ readonly people: KnownPerson[]; readonly isCut: boolean }> {
  const wanted = query.text?.toLowerCase() ?? '';
  const rows = await selectKnown(em, caller, query)
    .$if(wanted !== '', (people) =>
      people.where((eb) =>
        isNamed(eb.ref('p.id'), [eb.ref('p.name'), eb.ref('u.email')], { text: wanted, match: 'part' }),
      ),
    )
    .orderBy(sql`lower(p.name) <> ${wanted} and lower(u.email) is distinct from ${wanted}`)
    .orderBy(sql`lower(p.name)`)
    .orderBy('p.id')
    .limit(maxFoundPeople + 1)
    .execute();
  return { people: rows.slice(0, maxFoundPeople), isCut: rows.length > maxFoundPeople };
}

/** Those of the people and service accounts that the caller knows or may manage. */
export function findKnownPeople(em: Em, caller: Principal, ids: readonly string[]): Promise<KnownPerson[]> {
  return selectKnown(em, caller, { withManaged: true })
    .where('p.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .execute();
}

/** Whether the caller knows a principal, as a condition of another query. */
export function isKnownTo(
  em: Em,
  caller: Principal,
  eb: Over<{ p: 'principals' }>,
  { type, withManaged = false }: Pick<PeopleQuery, 'type' | 'withManaged'>,
): Expression<SqlBool> {
  const own = Object.keys(caller.organizations);
  const known = selectMembers(em).where('m.organizationId', '=', (of) => of.fn.any(of.val(own)));
  const managesAny = withManaged && decidePermission(caller, readAccountAccess).allowed;
  return eb.and([
    eb('p.deletedAt', 'is', null),
    eb('p.kind', 'in', type === undefined ? ['user', 'service_account'] : [type]),
    eb.or([
      eb('p.id', 'in', known),
      eb('p.id', '=', caller.id),
      ...(managesAny ? [eb('p.id', 'in', manageableAccounts(em, caller))] : []),
      eb.and([eb('p.kind', '=', 'user'), eb.lit(managesUsers(caller))]),
    ]),
  ]);
}

function selectMembers(em: Em) {
  return db(em).selectFrom('organization_members as m').select('m.principalId');
}

function selectKnown(em: Em, caller: Principal, { organizationId, ...query }: PeopleQuery) {
  return db(em)
    .selectFrom('principals as p')
    .leftJoin('users as u', 'u.id', 'p.id')
    .where((eb) => isKnownTo(em, caller, eb as unknown as Over<{ p: 'principals' }>, query))
    .$if(organizationId !== undefined, (people) =>
      people.where('p.id', 'in', selectMembers(em).where('m.organizationId', '=', organizationId ?? '')),
    )
    .select(['p.kind as type', 'p.id', 'p.name', 'u.email', 'p.enabled'])
    .$castTo<KnownPerson>();
}
