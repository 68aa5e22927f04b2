import type { Em } from '#database/database.ts';
import { findRow, lockClause, type RowLock } from '#database/row-lock.ts';
import { isPlatformAdministrator, nobody, type Ownership, readableTeamsSql } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { afterName, type Page, type PageRequest, toNamedPage } from '#domain/shared/paging.ts';
import { tenancy } from '#domain/tenancy/archiving.ts';
import { defaultEgress } from './model.ts';
import { PoolName } from './pool-model.ts';
import type { PoolRules } from './pools.ts';
import { workerGoneAfterSeconds } from './service.ts';

/** A pool as decisions and commands need it: its rules as they are stored, whoever asks. */
export interface PoolTarget extends PoolRules, Ownership {
  readonly name: string;
  /** Null: nobody has created it, but a worker serves it or a run uses it. */
  readonly revision: number | null;
}

/** A pool as its readers see it: its rules, who serves it, and what waits and works in it. */
export interface PoolView extends PoolRules {
  readonly name: string;
  readonly revision: number | null;
  readonly created_at: string | null;
  readonly workers: number;
  /** Those of its workers that contain template code. */
  readonly contained_workers: number;
  readonly concurrency: number;
  readonly queued: number;
  readonly running: number;
}

const egress = `coalesce(pool.egress, '${JSON.stringify(defaultEgress)}') as egress`;

const liveWorkers = `select served.name, w.concurrency, w.isolation from workers w
    cross join jsonb_array_elements_text(w.pools) as served(name)
   where not w.draining and w.drain_requested_at is null
     and w.heartbeat_at > now() - make_interval(secs => ${workerGoneAfterSeconds})`;

/** A pool by its name, its row locked where asked; undefined where nobody created, serves or uses it. */
export async function findPool(em: Em, name: string, lock: RowLock = false): Promise<PoolTarget | undefined> {
  const created = await findRow<PoolTarget>(
    em,
    lock,
    `select pool.name, pool.revision, pool.team_ids, pool.environment_ids, pool.isolation, ${egress}
       from worker_pools pool where pool.name = ?${lockClause(['pool'], lock)}`,
    [name],
  );
  if (created) return { ...created, ...nobody };
  const [used] = await em.execute<unknown[]>(
    `select 1 from (${liveWorkers}) live where live.name = ?
     union all select 1 from runs where finished_at is null and pool = ? limit 1`,
    [name, name],
  );
  const open = { team_ids: null, environment_ids: null, isolation: null, egress: defaultEgress };
  return used ? { name, revision: null, ...open, ...nobody } : undefined;
}

/** A pool as the principal sees it. */
export async function readPool(em: Em, principal: Principal, name: string): Promise<PoolView | undefined> {
  const [pool] = await selectPools(em, principal, { condition: 'n.name = ?', params: [name], limit: 1 });
  return pool;
}

/** A page of the pools that somebody created, serves or uses, by name. */
export async function listPools(em: Em, principal: Principal, request: PageRequest): Promise<Page<PoolView>> {
  const after = afterName(request, (name) => PoolName.safeParse(name).success);
  const params = [after];
  const limit = request.limit + 1;
  const rows = await selectPools(em, principal, { condition: 'n.name collate "C" > ?', params, limit });
  return toNamedPage(rows, request);
}

interface Selection {
  /** On the name of a pool, `n.name`. */
  readonly condition: string;
  readonly params: readonly unknown[];
  readonly limit: number;
}

function selectPools(em: Em, principal: Principal, { condition, params, limit }: Selection): Promise<PoolView[]> {
  const access = readableAccess(principal);
  return em.execute<PoolView[]>(
    `with live as (${liveWorkers}), used as (
       select pool as name, count(*) filter (where status = 'queued')::int as queued,
              count(*) filter (where status in ('running', 'canceling'))::int as running
         from runs where finished_at is null group by pool
     ), named as (select name from worker_pools union select name from live union select name from used)
     select n.name, pool.revision, pool.created_at, pool.isolation, ${egress}, ${access.sql},
            coalesce(u.queued, 0) as queued, coalesce(u.running, 0) as running,
            (select count(*)::int from live l where l.name = n.name) as workers,
            (select count(*)::int from live l where l.name = n.name and l.isolation = 'sandbox') as contained_workers,
            (select coalesce(sum(l.concurrency), 0)::int from live l where l.name = n.name) as concurrency
       from named n left join worker_pools pool on pool.name = n.name left join used u on u.name = n.name
      where ${condition} order by n.name collate "C" limit ?`,
    [...access.params, ...params, limit],
  );
}

/** The columns `team_ids` and `environment_ids`: of those that a pool names, the ones that the principal may read. */
function readableAccess(principal: Principal): { sql: string; params: unknown[] } {
  if (isPlatformAdministrator(principal)) return { sql: 'pool.team_ids, pool.environment_ids', params: [] };
  const { sql, params } = readableTeamsSql(principal, 't.id', 'hidden');
  const teams = 'join teams t on t.id = listed.id::uuid join organizations o on o.id = t.organization_id';
  const environments = `join environments e on e.id = listed.id::uuid join projects p on p.id = e.project_id
    join teams t on t.id = p.team_id join organizations o on o.id = t.organization_id`;
  return {
    sql: `${keepReadable('team_ids', teams, `${tenancy('team').present} and ${sql}`)},
          ${keepReadable('environment_ids', environments, `${tenancy('environment').present} and ${sql}`)}`,
    params: [...params, ...params],
  };
}

/** A list without what is not readable, in its own order; null, which stands for all, stays null. */
function keepReadable(column: 'team_ids' | 'environment_ids', joins: string, condition: string): string {
  return `case when pool.${column} is not null then (
      select coalesce(jsonb_agg(listed.id order by listed.place), '[]')
        from jsonb_array_elements_text(pool.${column}) with ordinality as listed(id, place) ${joins}
       where ${condition}) end as ${column}`;
}
