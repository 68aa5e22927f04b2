import type { Em } from '#domain/shared/database.ts';
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
