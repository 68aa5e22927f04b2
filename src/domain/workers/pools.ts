import { nobody, type Ownership } from '#domain/shared/access/decide.ts';
import type { Em } from '#domain/shared/database.ts';
import { type DemandedIsolation, defaultEgress, type Egress } from './model.ts';
import { workerGoneAfterSeconds } from './service.ts';

interface Owner {
  readonly teamId?: string | null;
  readonly environmentId?: string | null;
}

/** Whether a run of this team and environment may use a pool. Asked at admission, and again before a run begins. */
export async function isPoolOpen(em: Em, name: string, { teamId, environmentId }: Owner): Promise<boolean> {
  const [pool] = await em.execute<PoolAccess[]>(`select team_ids, environment_ids from worker_pools where name = ?`, [
    name,
  ]);
  if (!pool) return true;
  return includes(pool.team_ids, teamId) && includes(pool.environment_ids, environmentId);
}

function includes(listed: readonly string[] | null | undefined, id: string | null | undefined): boolean {
  return !listed || (id !== null && id !== undefined && listed.includes(id));
}

/** What template code of a pool may reach over the network. */
export async function readEgress(em: Em, pool: string): Promise<Egress> {
  const [row] = await em.execute<{ egress: Egress | null }[]>(`select egress from worker_pools where name = ?`, [pool]);
  return row?.egress ?? defaultEgress;
}

export interface PoolAccess {
  /** Null: all. */
  readonly team_ids: string[] | null;
  readonly environment_ids: string[] | null;
}

/** What operators say about a pool. */
export interface PoolRules extends PoolAccess {
  /** What a worker must have to execute runs of the pool. */
  readonly isolation: DemandedIsolation;
  readonly egress: Egress;
}

/** The same as it is asked for: what is left out of isolation and egress stays as it is. */
export interface PoolRequest extends PoolAccess {
  readonly isolation?: DemandedIsolation | undefined;
  readonly egress?: Egress | undefined;
}

const rules = `team_ids, environment_ids, isolation, coalesce(egress, '${JSON.stringify(defaultEgress)}') as egress`;

/**
 * Says who may use a pool, what its workers must have and what its runs may reach, from now on. Runs that wait for the
 * pool are judged by it before they begin. Answers what held before, and what holds.
 */
export async function changePool(
  em: Em,
  name: string,
  request: PoolRequest,
): Promise<{ before: PoolRules | null; after: PoolRules }> {
  const [before = null] = await em.execute<PoolRules[]>(`select ${rules} from worker_pools where name = ? for update`, [
    name,
  ]);
  const { team_ids, environment_ids, isolation, egress } = request;
  const wanted = { isolation: isolation === undefined ? (before?.isolation ?? null) : isolation };
  const reach = egress ?? before?.egress ?? defaultEgress;
  const [after] = await em.execute<[PoolRules]>(
    `insert into worker_pools (name, team_ids, environment_ids, isolation, egress, created_at)
     values (?, ?, ?, ?, ?, clock_timestamp())
     on conflict (name) do update set team_ids = excluded.team_ids, environment_ids = excluded.environment_ids,
       isolation = excluded.isolation, egress = excluded.egress, revision = worker_pools.revision + 1
     returning ${rules}`,
    [name, jsonOrNull(team_ids), jsonOrNull(environment_ids), wanted.isolation, JSON.stringify(reach)],
  );
  return { before, after };
}

function jsonOrNull(ids: string[] | null): string | null {
  return ids && JSON.stringify(ids);
}

/** A pool as operators see it: its rules, who serves it, and what waits and works in it. */
export interface PoolView extends PoolRules {
  name: string;
  workers: number;
  /** Those of its workers that contain template code. */
  contained_workers: number;
  concurrency: number;
  queued: number;
  running: number;
}

/** A pool by its name, where somebody opened, serves or uses it. */
export async function findPool(em: Em, name: string): Promise<(PoolView & Ownership) | undefined> {
  const [pool] = await listPools(em, name);
  return pool && { ...pool, ...nobody };
}

/** Every pool that somebody opened, serves or uses; by name. Pools are few. */
export function listPools(em: Em, name?: string): Promise<PoolView[]> {
  return em.execute<PoolView[]>(
    `with live as (
       select pool.name, w.concurrency, w.isolation from workers w
        cross join jsonb_array_elements_text(w.pools) as pool(name)
        where not w.draining and w.drain_requested_at is null and w.heartbeat_at > now() - make_interval(secs => ?)
     ), used as (
       select pool as name, count(*) filter (where status = 'queued')::int as queued,
              count(*) filter (where status in ('running', 'canceling'))::int as running
         from runs where finished_at is null group by pool
     ), named as (select name from worker_pools union select name from live union select name from used)
     select n.name, ${rules}, coalesce(u.queued, 0) as queued, coalesce(u.running, 0) as running,
            (select count(*)::int from live l where l.name = n.name) as workers,
            (select count(*)::int from live l where l.name = n.name and l.isolation = 'sandbox') as contained_workers,
            (select coalesce(sum(l.concurrency), 0)::int from live l where l.name = n.name) as concurrency
       from named n left join worker_pools p on p.name = n.name left join used u on u.name = n.name
      where n.name = coalesce(?, n.name) order by n.name`,
    [workerGoneAfterSeconds, name ?? null],
  );
}
