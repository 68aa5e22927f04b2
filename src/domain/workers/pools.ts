import { nobody, type Ownership } from '#domain/shared/access/decide.ts';
import type { Em } from '#domain/shared/database.ts';
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

export interface PoolAccess {
  /** Null: all. */
  readonly team_ids: string[] | null;
  readonly environment_ids: string[] | null;
}

/** Says who may use a pool, from now on; runs of others that wait for it do not begin. Answers who might before. */
export async function openPool(em: Em, name: string, access: PoolAccess): Promise<PoolAccess | null> {
  const [before] = await em.execute<PoolAccess[]>(
    `select team_ids, environment_ids from worker_pools where name = ? for update`,
    [name],
  );
  await em.execute(
    `insert into worker_pools (name, team_ids, environment_ids, created_at) values (?, ?, ?, clock_timestamp())
     on conflict (name) do update set team_ids = excluded.team_ids, environment_ids = excluded.environment_ids,
       revision = worker_pools.revision + 1`,
    [name, jsonOrNull(access.team_ids), jsonOrNull(access.environment_ids)],
  );
  return before ?? null;
}

function jsonOrNull(ids: string[] | null): string | null {
  return ids && JSON.stringify(ids);
}

/** A pool as operators see it: who may use it, who serves it, and what waits and works in it. */
export interface PoolView extends PoolAccess {
  name: string;
  workers: number;
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
       select pool.name, w.concurrency from workers w cross join jsonb_array_elements_text(w.pools) as pool(name)
        where not w.draining and w.drain_requested_at is null and w.heartbeat_at > now() - make_interval(secs => ?)
     ), used as (
       select pool as name, count(*) filter (where status = 'queued')::int as queued,
              count(*) filter (where status in ('running', 'canceling'))::int as running
         from runs where finished_at is null group by pool
     ), named as (select name from worker_pools union select name from live union select name from used)
     select n.name, p.team_ids, p.environment_ids, coalesce(u.queued, 0) as queued, coalesce(u.running, 0) as running,
            (select count(*)::int from live l where l.name = n.name) as workers,
            (select coalesce(sum(l.concurrency), 0)::int from live l where l.name = n.name) as concurrency
       from named n left join worker_pools p on p.name = n.name left join used u on u.name = n.name
      where n.name = coalesce(?, n.name) order by n.name`,
    [workerGoneAfterSeconds, name ?? null],
  );
}
