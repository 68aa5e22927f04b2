import type { Em } from '#database/database.ts';
import { type DemandedIsolation, defaultEgress, type Egress } from './model.ts';

interface Owner {
  readonly teamId?: string | null;
  readonly environmentId?: string | null;
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

/**
 * Whether a run of this team and environment may use a pool: everybody may where operators have said nothing about it
 * (null). Checked at admission, and again before a run begins.
 */
export function isOpenTo(pool: PoolAccess | null, { teamId, environmentId }: Owner): boolean {
  return !pool || (includes(pool.team_ids, teamId) && includes(pool.environment_ids, environmentId));
}

export async function readPoolAccess(em: Em, name: string): Promise<PoolAccess | null> {
  const [pool] = await em.execute<PoolAccess[]>(`select team_ids, environment_ids from worker_pools where name = ?`, [
    name,
  ]);
  return pool ?? null;
}

/** The `PoolAccess` of the pool of a row `r` of runs, as an SQL expression; null where operators have said nothing. */
export const poolAccessOfRun = `(
  select jsonb_build_object('team_ids', pool.team_ids, 'environment_ids', pool.environment_ids)
    from worker_pools pool where pool.name = r.pool)`;

function includes(listed: readonly string[] | null | undefined, id: string | null | undefined): boolean {
  return !listed || (id !== null && id !== undefined && listed.includes(id));
}

/** What template code of a pool may reach over the network. */
export async function readEgress(em: Em, pool: string): Promise<Egress> {
  const [row] = await em.execute<{ egress: Egress | null }[]>(`select egress from worker_pools where name = ?`, [pool]);
  return row?.egress ?? defaultEgress;
}
