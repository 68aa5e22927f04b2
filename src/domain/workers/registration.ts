import type { Em } from '#domain/shared/database.ts';
import { Worker } from './entity.ts';

export interface WorkerFacts {
  readonly id: string;
  readonly host: string;
  readonly processId: number;
  readonly version: string;
  readonly pools: string[];
  readonly tools: { name: string; version: string }[];
  readonly concurrency: number;
}

/** Workers that were not heard of for this long are forgotten. */
const forgetAfter = '1 day';

/** Makes a worker known, or known again. */
export async function registerWorker(em: Em, facts: WorkerFacts): Promise<void> {
  const now = new Date();
  await em.upsert(Worker, { ...facts, draining: false, startedAt: now, heartbeatAt: now });
  await em.execute(`delete from workers where heartbeat_at < now() - ?::interval`, [forgetAfter]);
}

/** Says that a worker lives; false where it was forgotten and must register again. */
export async function noteHeartbeat(em: Em, id: string, draining: boolean): Promise<boolean> {
  const rows = await em.execute<{ id: string }[]>(
    `update workers set heartbeat_at = clock_timestamp(), draining = ? where id = ? returning id`,
    [draining, id],
  );
  return rows.length > 0;
}

export async function removeWorker(em: Em, id: string): Promise<void> {
  await em.execute(`delete from workers where id = ?`, [id]);
}
