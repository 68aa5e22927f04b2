import type { ExecutionReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { ExecutionOutcome } from '../protocol/request.ts';
import { AttemptFailure } from '../shared/errors.ts';

/** How soon a stopped attempt's processes are killed: after the full grace period, after a short one, or at once. */
export type Urgency = 'grace' | 'short' | 'now';

export interface StopCause {
  readonly outcome: ExecutionOutcome;
  readonly reason: ExecutionReason;
  readonly message: string;
  readonly urgency: Urgency;
}

/** A running program that can be stopped. */
interface Stoppable {
  interrupt(): void;
  kill(): void;
}

const shortGraceMs = 5_000;

/** Decides whether an attempt may continue. The first cause that stops it is the one that is reported. */
export class AttemptControl {
  readonly #graceMs: number;
  #running: Stoppable | null = null;
  #cause: StopCause | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  get cause(): StopCause | null {
    return this.#cause;
  }

  /** Registers the running program, which a stop then ends. Returns a function that unregisters it. */
  attach(running: Stoppable): () => void {
    this.#running = running;
    if (this.#cause !== null) running.kill();
    return () => {
      this.#running = null;
    };
  }

  stop(cause: StopCause): void {
    if (this.#cause !== null) {
      if (cause.urgency === 'now') this.#running?.kill();
      return;
    }
    this.#cause = cause;
    if (cause.urgency === 'now') {
      this.#running?.kill();
      return;
    }
    this.#running?.interrupt();
    const graceMs = cause.urgency === 'grace' ? this.#graceMs : Math.min(this.#graceMs, shortGraceMs);
    this.#timer = setTimeout(() => this.#running?.kill(), graceMs);
  }

  /** @throws AttemptFailure if the attempt was stopped: nothing new may start */
  assertRunning(): void {
    if (this.#cause !== null) throw new AttemptFailure(this.#cause.reason, this.#cause.message);
  }

  /** Stops waiting for the grace period to end. */
  close(): void {
    clearTimeout(this.#timer);
  }
}
