import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findPeople, type KnownPerson } from '#domain/members/people-store.ts';
import { managesUsers } from '#domain/shared/access/account-succession.ts';
import { decidePermission } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Finder } from './finder.ts';

/**
 * Finds the people or the service accounts that the caller knows, as a search of people does, and the service accounts that the caller may manage. The
 * parent is an organization that both belong to, by which the caller reaches them; whoever manages them reaches them without it.
 */
export function findAcquaintances(type: KnownPerson['type']): Finder {
  return async (em, principal, text, max) => {
    if (!decidePermission(principal, { anyOf: ['organization:read'] }).allowed) return [];
    const { people } = await findPeople(em, principal, { text, type, withManaged: true });
    const found = people.slice(0, max);
    const ids = type === 'user' && managesUsers(principal) ? [] : found.map(({ id }) => id);
    const shared = await findSharedOrganizations(em, principal, ids);
    return found.map(({ id, name, email }) => ({ id, name, context: email, parentId: shared.get(id) ?? null }));
  };
}

/** An organization of the caller for each of these people who belongs to any. */
async function findSharedOrganizations(
  em: Em,
  caller: Principal,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('organization_members as m')
    .where('m.principal_id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .where('m.organization_id', '=', (eb) => eb.fn.any(eb.val(Object.keys(caller.organizations))))
    .groupBy('m.principal_id')
    .select(['m.principal_id as id', sql<string>`min(m.organization_id::text)`.as('organization')])
    .execute();
  return new Map(rows.map(({ id, organization }) => [id, organization]));
}
