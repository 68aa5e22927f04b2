import type { Em } from '#domain/shared/database.ts';
import type { Isolation } from './model.ts';

/** A worker that has not been heard of for this long is taken for gone. */
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

/** `gone`: it took its leave, or another one saw that its process had ended; `silent`: it was not heard of lately. */
export type WorkerWord = 'alive' | 'silent' | 'gone';

export async function askAfterWorker(em: Em, id: string): Promise<WorkerWord> {
  const rows = await em.execute<{ alive: boolean }[]>(
    `select heartbeat_at > now() - make_interval(secs => ?) as alive from workers where id = ?`,
    [workerGoneAfterSeconds, id],
  );
  if (!rows[0]) return 'gone';
  return rows[0].alive ? 'alive' : 'silent';
}
