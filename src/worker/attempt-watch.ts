import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { findEndedAttempts } from '#domain/runs/attempts/store.ts';

const pollMs = 1_000;

/**
 * Stops attempts of this worker whose run is being canceled, has ended, or has continued with another attempt. It polls the database,
 * because the engine reports a cancellation to attempts only slowly, and not at all if the end was forced.
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

  /** Accepts no more attempts. Those that are being executed continue. */
  close(): void {
    this.#areClosing = true;
  }

  /** Aborts when this worker stops: plans are handed back to other workers, and applies are interrupted. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Interrupts all attempts. The engine does so too, except for attempts that it has forgotten. */
  interruptAll(): void {
    this.#stopping.abort();
  }

  /** A signal that aborts when the attempt must stop. It is valid until `leave`. Null if this worker already executes the attempt. */
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
      const ended = await findEndedAttempts(this.#orm.em.fork(), [...this.#attempts.keys()]);
      for (const id of ended) this.#attempts.get(id)?.abort();
    } catch (error) {
      this.#log.warn({ err: error }, 'could not read whether attempts of this worker must stop; trying again');
    }
    this.#timer = this.#attempts.size > 0 ? setTimeout(() => void this.#poll(), pollMs) : undefined;
  }
}
