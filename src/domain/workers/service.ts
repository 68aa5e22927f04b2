import type { Em } from '#database/database.ts';
import type { Isolation } from './model.ts';

/** A worker whose last heartbeat is older than this counts as lost. */
export const workerGoneAfterSeconds = 30;

/**
 * Whether the pool or the environment of a run demands that its template code is contained, as an SQL condition on a row
 * `r` of runs. It is asked whenever an attempt is given away, so that a demand holds from the moment it is made. A pool that
 * limits what its runs may reach demands it as well: only a sandbox enforces that.
 */
export const demandsSandbox = `(
  exists (select 1 from worker_pools demanding where demanding.name = r.pool
             and (demanding.isolation = 'sandbox' or demanding.egress->>'policy' in ('none', 'allow')))
  or exists (select 1 from environments demanding where demanding.id = r.environment_id and demanding.isolation = 'sandbox'))`;

/** A worker that serves the pool of a run, beside what the run asks of it. */
export interface LiveWorker {
  id: string;
  /** Null: a worker of a release that did not say. */
  isolation: Isolation | null;
  tools: { name: string; version: string }[];
  /** The kind of tool that wrote the state of the run's instance; null: none did. */
  wanted_tool: string | null;
  /** Whether only a worker that contains template code may execute the run. */
  demands_sandbox: boolean;
}

/** The workers that serve the pool of a run now: heard of lately, and not draining. */
export function findLiveWorkers(em: Em, runId: string): Promise<LiveWorker[]> {
  return em.execute<LiveWorker[]>(
    `select w.id, w.isolation, w.tools, i.tool as wanted_tool, ${demandsSandbox} as demands_sandbox
       from runs r join instances i on i.id = r.instance_id join workers w on w.pools @> jsonb_build_array(r.pool)
      where r.id = ? and not w.draining and w.drain_requested_at is null
        and w.heartbeat_at > now() - make_interval(secs => ?)`,
    [runId, workerGoneAfterSeconds],
  );
}

/** Whether a worker that was started on a host has been heard of lately. */
export async function hasLiveWorker(em: Em, host: string): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    `select 1 from workers where host = ? and heartbeat_at > now() - make_interval(secs => ?) limit 1`,
    [host, workerGoneAfterSeconds],
  );
  return rows.length > 0;
}

/** `silent`: its heartbeat has expired; `gone`: it deregistered, or another worker saw that its process had ended. */
export type WorkerLiveness = 'alive' | 'silent' | 'gone';

/** The liveness of a worker as an SQL expression, given the expression of its id. */
export function workerLiveness(id: string): string {
  const isAlive = `worker.heartbeat_at > now() - make_interval(secs => ${workerGoneAfterSeconds})`;
  return `coalesce((select case when ${isAlive} then 'alive' else 'silent' end from workers worker where worker.id = ${id}), 'gone')`;
}
