import type { Em } from '#database/database.ts';
import { nobody, type Ownership } from '#domain/shared/access/decide.ts';
import { Worker } from './entity.ts';
import type { Isolation, LimitKind } from './model.ts';

export interface WorkerFacts {
  readonly id: string;
  readonly host: string;
  readonly processId: number;
  readonly version: string;
  readonly pools: string[];
  readonly tools: { name: string; version: string }[];
  readonly concurrency: number;
  /** Whether it contains template code; the queues that it polls follow from it. */
  readonly isolation: Isolation;
  /** How it enforces the limits of attempts. */
  readonly limits: LimitKind;
  /** Why it does not contain template code; null where it does. */
  readonly isolationReason: string | null;
}

/** Workers that were not heard of for this long are forgotten. */
const forgetAfter = '1 day';

/** Makes a worker known, or known again. */
export async function registerWorker(em: Em, facts: WorkerFacts): Promise<void> {
  const now = new Date();
  await em.upsert(Worker, { ...facts, draining: false, startedAt: now, heartbeatAt: now });
  await em.execute(`delete from workers where heartbeat_at < now() - ?::interval`, [forgetAfter]);
}

/** What a worker hears back when it says that it lives. */
export type HeartbeatAnswer = 'known' | 'forgotten' | 'drain';

/** Says that a worker lives. `forgotten`: it must register again; `drain`: an operator wants it to take no new work. */
export async function noteHeartbeat(em: Em, id: string, draining: boolean): Promise<HeartbeatAnswer> {
  const rows = await em.execute<{ drain: boolean }[]>(
    `update workers set heartbeat_at = clock_timestamp(), draining = ? where id = ?
     returning drain_requested_at is not null as drain`,
    [draining, id],
  );
  if (!rows[0]) return 'forgotten';
  return rows[0].drain ? 'drain' : 'known';
}

/** The workers that were started on a host, by their processes' numbers. */
export async function findWorkersOf(em: Em, host: string): Promise<{ id: string; processId: number }[]> {
  const rows = await em.execute<{ id: string; process_id: number }[]>(
    `select id, process_id from workers where host = ?`,
    [host],
  );
  return rows.map((row) => ({ id: row.id, processId: row.process_id }));
}

export async function removeWorker(em: Em, id: string): Promise<void> {
  await em.execute(`delete from workers where id = ?`, [id]);
}

/** A worker by its id: the whole installation's. */
export async function findWorker(em: Em, id: string): Promise<({ id: string } & Ownership) | undefined> {
  const rows = await em.execute<{ id: string }[]>(`select id from workers where id = ?`, [id]);
  return rows[0] && { ...rows[0], ...nobody };
}

/** Asks a worker to take no new work; false where it is not known. It obeys at its next heartbeat. */
export async function requestDrain(em: Em, id: string): Promise<boolean> {
  const rows = await em.execute<{ id: string }[]>(
    `update workers set drain_requested_at = coalesce(drain_requested_at, clock_timestamp()) where id = ? returning id`,
    [id],
  );
  return rows.length > 0;
}
