import type { ExecutionReason } from '#domain/runs/model.ts';
import type { ExecutionOutcome } from '../protocol/request.ts';
import { AttemptFailure } from './attempt-error.ts';

/** How quickly a stopped attempt's processes are killed: after its whole grace, a short one, or at once. */
export type Urgency = 'grace' | 'short' | 'now';

export interface StopCause {
  readonly outcome: ExecutionOutcome;
  readonly reason: ExecutionReason;
  readonly message: string;
  readonly urgency: Urgency;
}

/** How to stop what runs just now. */
export interface Stoppable {
  interrupt(): void;
  kill(): void;
}

const shortGraceMs = 5_000;

/** Whether an attempt goes on. The first cause to stop it is the one that is reported. */
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

  /** Says what is to be stopped from now on. Answers how to take that back. */
  hold(running: Stoppable): () => void {
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

  /** @throws AttemptFailure where the attempt was stopped: nothing new may be started */
  assertRunning(): void {
    if (this.#cause !== null) throw new AttemptFailure(this.#cause.reason, this.#cause.message);
  }

  /** Ends waiting for the grace. */
  close(): void {
    clearTimeout(this.#timer);
  }
}
