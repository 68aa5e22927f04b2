import type { ExecutionReason } from '#domain/runs/model.ts';
import { AttemptFailure } from './attempt-error.ts';
import type { ExecutionOutcome } from './protocol.ts';

/** How quickly a stopped attempt's processes are killed: after its whole grace, a short one, or at once. */
export type Urgency = 'grace' | 'short' | 'now';

export interface StopCause {
  readonly outcome: ExecutionOutcome;
  readonly reason: ExecutionReason;
  readonly message: string;
  readonly urgency: Urgency;
}

const shortGraceMs = 5_000;

/** Whether an attempt goes on. The first cause to stop it is the one that is reported. */
export class AttemptControl {
  readonly #graceMs: number;
  readonly #interrupt: () => void;
  readonly #kill: () => void;
  #cause: StopCause | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: { graceMs: number; interrupt: () => void; kill: () => void }) {
    this.#graceMs = options.graceMs;
    this.#interrupt = options.interrupt;
    this.#kill = options.kill;
  }

  get cause(): StopCause | null {
    return this.#cause;
  }

  stop(cause: StopCause): void {
    if (this.#cause !== null) {
      if (cause.urgency === 'now') this.#kill();
      return;
    }
    this.#cause = cause;
    if (cause.urgency === 'now') {
      this.#kill();
      return;
    }
    this.#interrupt();
    const graceMs = cause.urgency === 'grace' ? this.#graceMs : Math.min(this.#graceMs, shortGraceMs);
    this.#timer = setTimeout(this.#kill, graceMs);
  }

  /** @throws AttemptFailure where the attempt was stopped: nothing new may be started */
  assertRunning(): void {
    if (this.#cause !== null) throw new AttemptFailure(this.#cause.reason, this.#cause.message);
  }

  /** Ends waiting for the grace. */
  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }
}
