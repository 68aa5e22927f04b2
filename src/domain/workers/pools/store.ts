import { type Expression, expressionBuilder, type QueryCreator, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { json, type RowOf } from '#database/tables.ts';
import { db, type Over, prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Page, type PageRequest, pageByName } from '#domain/shared/paging/paging.ts';
import { PoolName } from '#domain/shared/vocabulary/pools.ts';
import { takesWork } from '../store.ts';
import { defaultEgress, type Egress } from './egress.ts';
import { defaultRules, defaultShares, type PoolAccess, type PoolRules } from './model.ts';
import { selectReadableEnvironmentIds, selectReadableTeamIds } from './readable-store.ts';

/** A pool for decisions and commands. It has all the stored rules, whatever the caller may read. */
export interface PoolTarget extends PoolRules, Ownership {
  readonly name: string;
  /** Null: no operator has created it, but a worker serves it or a run uses it. */
  readonly revision: number | null;
}

/** What readers see of a pool: its rules, the workers that serve it, and its runs. */
export type PoolDetails = RowOf<typeof selectPools>;

/** A pool by its name; undefined if no operator created it and nothing serves or uses it. */
export function findPool(em: Em, name: string): Promise<PoolTarget | undefined> {
  return findPoolToChange(em, name, false);
}

/** `findPool` for a command that changes the pool. With `lock` it locks the row. */
export async function findPoolToChange(em: Em, name: string, lock: boolean): Promise<PoolTarget | undefined> {
  const created = await findCreatedPool(em, name, lock);
  if (created) return { ...created, ...installationOwnership };
  return (await isInUse(em, name)) ? { name, revision: null, ...defaultRules, ...installationOwnership } : undefined;
}

/** Reads a second time after waiting for a lock, because the pool may have been deleted and created again in the meantime. */
async function findCreatedPool(em: Em, name: string, lock: boolean) {
  const query = db(em)
    .selectFrom('worker_pools as pool')
    .where('pool.name', '=', name)
    .select(['pool.name', 'pool.revision', 'pool.isolation'])
    .select(['pool.teamIds', 'pool.environmentIds'])
    .select(['pool.maxTeamPercent', 'pool.maxPersonPercent'])
    .select((eb) => egressOf(eb).as('egress'))
    .$if(lock, (pool) => pool.forNoKeyUpdate());
  return (await query.executeTakeFirst()) ?? (lock ? query.executeTakeFirst() : undefined);
}

async function isInUse(em: Em, name: string): Promise<boolean> {
  const rows = await db(em)
    .selectFrom(selectLiveWorkers(db(em)).as('live'))
    .where('live.name', '=', name)
    .select(sql<number>`1`.as('one'))
    .unionAll(
      db(em)
        .selectFrom('runs')
        .where('finishedAt', 'is', null)
        .where('pool', '=', name)
        .select(sql<number>`1`.as('one')),
    )
    .limit(1)
    .execute();
  return rows.length > 0;
}

/** A pool as the principal sees it. */
export function readPool(em: Em, principal: Principal, name: string): Promise<PoolDetails | undefined> {
  return selectPools(em, principal).where('n.name', '=', name).executeTakeFirst();
}

/** A page of the pools that an operator created, a worker serves or a run uses, by name. */
export function listPools(em: Em, principal: Principal, request: PageRequest): Promise<Page<PoolDetails>> {
  return pageByName(selectPools(em, principal), 'n.name', request, (name) => PoolName.safeParse(name).success);
}

/** The rules about who may use a pool; null if no operator has created it. */
export async function readPoolAccess(em: Em, name: string): Promise<PoolAccess | null> {
  const [pool] = await selectPoolAccess(em, { name });
  return pool ?? null;
}

const selectPoolAccess = prepare((db, parameter: ParameterOf<{ name: string }>) =>
  db.selectFrom('worker_pools').where('name', '=', parameter('name')).select(['teamIds', 'environmentIds']),
);

/** What template code of a pool may reach over the network. */
export async function readEgress(em: Em, pool: string): Promise<Egress> {
  const row = await db(em)
    .selectNoFrom((eb) => selectEgress(eb.val(pool)).as('egress'))
    .executeTakeFirstOrThrow();
  return row.egress ?? defaultEgress;
}

/** The egress that the rules of a pool set; null if they set none (`defaultEgress`). */
export function selectEgress(pool: Expression<string>) {
  const pools = expressionBuilder<Tables>().selectFrom('worker_pools as pool');
  return pools.where('pool.name', '=', pool).select('pool.egress').$asScalar();
}

/** Removes a pool. The installation keeps the highest revision that it has removed. */
export async function removePool(em: Em, name: string): Promise<void> {
  await db(em)
    .with('removed', (queries) => queries.deleteFrom('worker_pools').where('name', '=', name).returning('revision'))
    .updateTable('installation')
    .from('removed')
    .set({ removedPoolRevision: sql<number>`greatest(installation.removed_pool_revision, removed.revision)` })
    .execute();
}

/** The first revision of a new pool, which is higher than those of removed pools. Waits until a concurrent removal has ended. */
export async function chooseFirstRevision(em: Em): Promise<number> {
  const { removed } = await db(em)
    .selectFrom('installation')
    .select('removedPoolRevision as removed')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  return removed + 1;
}

/** Every pool that an operator created, a worker serves or a run uses, with the parts that the principal may read. */
function selectPools(em: Em, principal: Principal) {
  return db(em)
    .with('served', () => countWorkers(db(em)))
    .with('used', () => countRuns(db(em)))
    .with('named', (q) =>
      q
        .selectFrom('worker_pools')
        .select('name')
        .union(q.selectFrom('served').select('name'))
        .union(q.selectFrom('used').select('name')),
    )
    .selectFrom('named as n')
    .leftJoin('worker_pools as pool', 'pool.name', 'n.name')
    .leftJoin('served as s', 's.name', 'n.name')
    .leftJoin('used as u', 'u.name', 'n.name')
    .select(['n.name', 'pool.revision', 'pool.createdAt', 'pool.isolation'])
    .select((eb) => [
      egressOf(eb).as('egress'),
      orDefault(eb.ref('pool.maxTeamPercent'), defaultShares.maxTeamPercent).as('maxTeamPercent'),
      orDefault(eb.ref('pool.maxPersonPercent'), defaultShares.maxPersonPercent).as('maxPersonPercent'),
      selectReadableTeamIds(eb, principal).as('teamIds'),
      selectReadableEnvironmentIds(eb, principal).as('environmentIds'),
      orZero(eb.ref('s.workers')).as('workers'),
      // The number of its workers that have a sandbox.
      orZero(eb.ref('s.containedWorkers')).as('containedWorkers'),
      orZero(eb.ref('s.concurrency')).as('concurrency'),
      orZero(eb.ref('u.queued')).as('queued'),
      orZero(eb.ref('u.running')).as('running'),
    ]);
}

/** The live workers of each pool, as one row for each worker and pool. */
function selectLiveWorkers(q: QueryCreator<Tables>) {
  return q
    .selectFrom('workers as w')
    .crossJoinLateral((eb) =>
      sql<{ name: string }>`jsonb_array_elements_text(${eb.ref('w.pools')})`.as<'served'>(sql`served(name)`),
    )
    .where(takesWork)
    .select(['served.name', 'w.concurrency', 'w.isolation']);
}

function countWorkers(q: QueryCreator<Tables>) {
  return q
    .selectFrom(selectLiveWorkers(q).as('live'))
    .groupBy('live.name')
    .select((eb) => [
      'live.name',
      count(eb.fn.countAll()).as('workers'),
      count(eb.fn.countAll().filterWhere('live.isolation', '=', 'sandbox')).as('containedWorkers'),
      count(eb.fn.sum('live.concurrency')).as('concurrency'),
    ]);
}

function countRuns(q: QueryCreator<Tables>) {
  return q
    .selectFrom('runs as r')
    .where('r.finishedAt', 'is', null)
    .groupBy('r.pool')
    .select((eb) => [
      'r.pool as name',
      count(eb.fn.countAll().filterWhere('r.status', '=', 'queued')).as('queued'),
      count(eb.fn.countAll().filterWhere('r.status', 'in', ['running', 'canceling'])).as('running'),
    ]);
}

/** PostgreSQL counts in bigint, which the driver returns as text. */
function count(aggregate: Expression<unknown>) {
  return sql<number>`(${aggregate})::int`;
}

function orZero(value: Expression<number | null>) {
  return sql<number>`coalesce(${value}, 0)`;
}

function orDefault(value: Expression<number | null>, otherwise: number) {
  return sql<number>`coalesce(${value}, ${sql.lit(otherwise)})`;
}

function egressOf(eb: Over<{ pool: 'worker_pools' }>) {
  return sql<Egress>`coalesce(${eb.ref('pool.egress')}, ${json(defaultEgress)}::jsonb)`;
}
