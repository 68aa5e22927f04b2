import { type Expression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';

/**
 * A pool may name teams and environments of many tenants. Its readers see only the ones that they may read, in the order of the stored
 * list. A list of null, which means all, stays null.
 */

type PoolTable = Over<{ pool: 'worker_pools' }>;

/** The teams that the row `pool` names and the principal may read. */
export function selectReadableTeamIds(eb: PoolTable, principal: Principal) {
  const all = eb.ref('pool.teamIds');
  if (isPlatformAdministrator(principal)) return sql<readonly string[] | null>`${all}`;
  const readable = eb
    .selectFrom(elementsOf(all))
    .innerJoin('teams as t', 't.id', 'listed.id')
    .innerJoin('organizations as o', 'o.id', 't.organizationId')
    .where('t.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .where((of) => isInReadableTeam(principal, of.ref('t.id'), 'hidden'))
    .select((of) => collectInOrder(of.ref('listed.id'), of.ref('listed.place')).as('ids'));
  return sql<readonly string[] | null>`case when ${all} is not null then ${readable} end`;
}

/** The environments that the row `pool` names and the principal may read. */
export function selectReadableEnvironmentIds(eb: PoolTable, principal: Principal) {
  const all = eb.ref('pool.environmentIds');
  if (isPlatformAdministrator(principal)) return sql<readonly string[] | null>`${all}`;
  const readable = eb
    .selectFrom(elementsOf(all))
    .innerJoin('environments as e', 'e.id', 'listed.id')
    .innerJoin('projects as p', 'p.id', 'e.projectId')
    .innerJoin('teams as t', 't.id', 'p.teamId')
    .innerJoin('organizations as o', 'o.id', 't.organizationId')
    .where('e.deletedAt', 'is', null)
    .where('p.deletedAt', 'is', null)
    .where('t.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .where((of) => isInReadableTeam(principal, of.ref('t.id'), 'hidden'))
    .select((of) => collectInOrder(of.ref('listed.id'), of.ref('listed.place')).as('ids'));
  return sql<readonly string[] | null>`case when ${all} is not null then ${readable} end`;
}

/** The texts of a JSON list, each with its place in it. */
function elementsOf(list: Expression<readonly string[] | null>) {
  return sql<{ id: string; place: string }>`
    (select element::uuid as id, place from jsonb_array_elements_text(${list}) with ordinality as each(element, place))`.as(
    'listed',
  );
}

function collectInOrder(id: Expression<string>, place: Expression<string>) {
  return sql<string[]>`coalesce(jsonb_agg(${id} order by ${place}), '[]')`;
}

/** The ids of the teams that exist and that the principal may read. */
export async function findReadableTeams(em: Em, principal: Principal, ids: readonly string[]): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('teams as t')
    .innerJoin('organizations as o', 'o.id', 't.organizationId')
    .where('t.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .where('t.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('t.id'), 'hidden'))
    .select('t.id')
    .execute();
  return rows.map(({ id }) => id);
}

/** The ids of the environments that exist and that the principal may read. */
export async function findReadableEnvironments(
  em: Em,
  principal: Principal,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('environments as e')
    .innerJoin('projects as p', 'p.id', 'e.projectId')
    .innerJoin('teams as t', 't.id', 'p.teamId')
    .innerJoin('organizations as o', 'o.id', 't.organizationId')
    .where('e.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .where('e.deletedAt', 'is', null)
    .where('p.deletedAt', 'is', null)
    .where('t.deletedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('t.id'), 'hidden'))
    .select('e.id')
    .execute();
  return rows.map(({ id }) => id);
}
