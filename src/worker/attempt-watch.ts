import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { pgArray } from '#database/errors.ts';

const pollMs = 1_000;

/**
 * Tells attempts of this worker that they are over: their run is being canceled, has ended, or has gone on to another
 * attempt. The engine tells them as well, but slowly, and not at all where somebody forced the end.
 */
export class AttemptWatch {
  readonly #orm: Orm;
  readonly #log: Logger;
  readonly #attempts = new Map<string, AbortController>();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #areClosing = false;

  constructor(orm: Orm, log: Logger) {
    this.#orm = orm;
    this.#log = log;
  }

  get size(): number {
    return this.#attempts.size;
  }

  get areClosing(): boolean {
    return this.#areClosing;
  }

  /** What is under way goes on, and is followed by nothing here. */
  close(): void {
    this.#areClosing = true;
  }

  /** Aborts when this worker ends: plans are handed back, and applies interrupted. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Cuts off what is still under way. The engine tells attempts the same, but for those that it no longer knows. */
  interruptAll(): void {
    this.#stopping.abort();
  }

  /** A signal that aborts when the attempt is over, until `leave`; null where the attempt has joined already. */
  join(attemptId: string): AbortSignal | null {
    if (this.#attempts.has(attemptId)) return null;
    const controller = new AbortController();
    this.#attempts.set(attemptId, controller);
    this.#timer ??= setTimeout(() => void this.#poll(), pollMs);
    return controller.signal;
  }

  leave(attemptId: string): void {
    this.#attempts.delete(attemptId);
  }

  async #poll(): Promise<void> {
    try {
      const over = await this.#orm.em.fork().execute<{ id: string }[]>(
        `select a.id from unnest(?::uuid[]) as a(id)
          where not exists (select 1 from runs r join run_attempts t on t.run_id = r.id
                             where t.id = a.id and r.attempt_id = t.id and r.status = 'running')`,
        [pgArray([...this.#attempts.keys()])],
      );
      for (const { id } of over) this.#attempts.get(id)?.abort();
    } catch (error) {
      this.#log.warn({ err: error }, 'attempts could not be looked after; trying again');
    }
    this.#timer = this.#attempts.size > 0 ? setTimeout(() => void this.#poll(), pollMs) : undefined;
  }
}
