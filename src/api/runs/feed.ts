import { EventEmitter, once } from 'node:events';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { pgArray } from '#database/errors.ts';
import type { RunStatus, WaitingOn } from '#domain/runs/model.ts';

const pollMs = 400;

/** What of a run moves while somebody watches it. */
export interface RunPulse {
  readonly status: RunStatus;
  readonly phase: string;
  readonly revision: number;
  readonly waiting_on: WaitingOn | null;
  /** The last chunk of its log. */
  readonly last_sequence: number;
}

interface PulseRow extends RunPulse {
  id: string;
}

/** One poll of the database for all readers of this process, and none where nobody reads. */
export class RunFeed {
  readonly #orm: Orm;
  readonly #log: Logger;
  readonly #watched = new Map<string, { readers: number; pulse: RunPulse | null; changes: EventEmitter }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(orm: Orm, log: Logger) {
    this.#orm = orm;
    this.#log = log;
  }

  /** Answers the run's pulse whenever it changes, first as soon as it is known; ends when the signal aborts. */
  async *watch(runId: string, signal: AbortSignal): AsyncGenerator<RunPulse> {
    const entry = this.#join(runId);
    let seen: RunPulse | null = null;
    try {
      while (!signal.aborted) {
        if (entry.pulse !== null && entry.pulse !== seen) {
          seen = entry.pulse;
          yield seen;
        } else {
          await once(entry.changes, 'change', { signal }).catch(() => undefined); // aborted: the loop ends
        }
      }
    } finally {
      this.#leave(runId);
    }
  }

  #join(runId: string) {
    const entry = this.#watched.get(runId) ?? {
      readers: 0,
      pulse: null,
      changes: new EventEmitter().setMaxListeners(0),
    };
    entry.readers += 1;
    this.#watched.set(runId, entry);
    this.#timer ??= setTimeout(() => void this.#poll(), 0);
    return entry;
  }

  #leave(runId: string): void {
    const entry = this.#watched.get(runId);
    if (!entry) return;
    entry.readers -= 1;
    if (entry.readers === 0) this.#watched.delete(runId);
  }

  async #poll(): Promise<void> {
    try {
      for (const row of await this.#read()) this.#publish(row);
    } catch (error) {
      this.#log.warn({ err: error }, 'the watched runs could not be read; trying again');
    }
    this.#timer = this.#watched.size > 0 ? setTimeout(() => void this.#poll(), pollMs) : undefined;
  }

  #read(): Promise<PulseRow[]> {
    return this.#orm.em.fork().execute<PulseRow[]>(
      `select r.id, r.status, r.phase, r.revision, r.waiting_on, coalesce((
          select max(c.sequence) from run_log_chunks c where c.run_id = r.id and c.time >= r.created_at), 0) as last_sequence
         from runs r where r.id = any(?::uuid[])`,
      [pgArray([...this.#watched.keys()])],
    );
  }

  #publish({ id, ...pulse }: PulseRow): void {
    const entry = this.#watched.get(id);
    if (!entry || (entry.pulse?.revision === pulse.revision && entry.pulse.last_sequence === pulse.last_sequence))
      return;
    entry.pulse = pulse;
    entry.changes.emit('change');
  }
}
