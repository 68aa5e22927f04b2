import type { Em } from '#domain/shared/database.ts';

/** A worker that has not been heard of for this long is taken for gone. */
export const workerGoneAfterSeconds = 30;

export interface LiveWorker {
  id: string;
  tools: { name: string; version: string }[];
}

/** The workers that serve a pool now: heard of lately, and not draining. */
export function findLiveWorkers(em: Em, pool: string): Promise<LiveWorker[]> {
  return em.execute<LiveWorker[]>(
    `select id, tools from workers where pools @> ?::jsonb and not draining and drain_requested_at is null
        and heartbeat_at > now() - make_interval(secs => ?)`,
    [JSON.stringify([pool]), workerGoneAfterSeconds],
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
