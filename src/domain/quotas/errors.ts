import { ServiceError, Unavailable } from '#domain/shared/errors.ts';
import { describeUse, type QuotaKind, type QuotaSubject } from '#domain/shared/vocabulary/quotas.ts';

/** How much of a limit is used. */
export interface QuotaState extends QuotaSubject {
  readonly kind: QuotaKind;
  readonly limit: number;
  readonly used: number;
}

const dayMs = 24 * 60 * 60 * 1000;
/** A queue frees places without any action, at an unknown time. */
const queueRetrySeconds = 30;
/** For other limits, somebody has to remove something or raise the limit. */
const otherRetrySeconds = 600;

/** A change would exceed a limit. Nothing was changed. */
export class QuotaExceeded extends ServiceError {
  readonly state: QuotaState;

  constructor(state: QuotaState) {
    const message = describe(state);
    super('limited', message, {
      code: 'quota_exceeded',
      details: { errors: [{ path: '', message, ...state }] },
      retryAfter: secondsUntilRoom(state.kind),
    });
    this.state = state;
  }

  /** Whether the same request may soon succeed without any change. */
  get passesSoon(): boolean {
    return this.state.kind === 'queued_runs';
  }
}

function describe(state: QuotaState): string {
  const { scope, kind } = state;
  const remedy = kind === 'runs_per_day' ? 'wait until midnight (UTC), or' : 'remove some, or';
  return `the quota of the ${scope} is used up: ${describeUse(state)}; ${kind === 'queued_runs' ? 'wait until some have begun, or' : remedy} ask an administrator to raise it`;
}

function secondsUntilRoom(kind: QuotaKind, now = Date.now()): number {
  if (kind === 'runs_per_day') return Math.ceil((dayMs - (now % dayMs)) / 1000);
  return kind === 'queued_runs' ? queueRetrySeconds : otherRetrySeconds;
}

/** A quota or its usage is invalid, so the service cannot decide. It refuses everything. */
export class QuotaUnreadable extends Unavailable {
  constructor({ scope, id }: QuotaSubject, what: 'quota' | 'usage') {
    const remedy = what === 'quota' ? 'set or clear it' : 'recount it, or clear the quota';
    super(
      `the ${what === 'quota' ? 'quota' : 'usage'} of the ${scope} ${id} cannot be read: an administrator can ${remedy}`,
    );
  }
}
