import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { Isolation } from '#domain/workers/model.ts';
import type { Executor } from '#executors/client/executor.ts';
import type { ExecutionLimits, Tool } from '#executors/protocol/request.ts';

/** The dependencies of activities. They are created once for the worker. */
export interface ActivityDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly keyRing: KeyRing;
  readonly log: Logger;
}

export interface AttemptDeps extends ActivityDeps {
  /** The installation's key, from which the service derives keys for its own comparisons. */
  readonly bindingKey: Buffer;
  /** This worker's id, under which it claims attempts. */
  readonly workerId: string;
  /** How this worker isolates template code. */
  readonly isolation: Isolation;
  readonly executor: Pick<Executor, 'execute'>;
  /** The tools that this worker has now, in its order of preference. */
  readonly findTools: () => Promise<readonly Tool[]>;
  /** The issuer in tokens of attempts, as an origin; null if it is not known. */
  readonly issuer: string | null;
  /** The limits of one attempt. */
  readonly limits: ExecutionLimits;
  /** Keeps states on disk until the database has stored them. */
  readonly spool: {
    add(state: AttemptState, onRefused: () => void): Promise<void>;
    /**
     * Ends the states of an attempt: says whether the database has stored them, or refused one, and which one `store` has to store with the
     * result.
     */
    settleWith<Result>(
      attemptId: string,
      store: (verdict: 'settled' | 'refused', last: AttemptState | null) => Promise<Result>,
    ): Promise<Result>;
  };
  /** The attempts that this worker executes. */
  readonly attempts: {
    /** Returns a signal that aborts when the attempt is over; null if this worker already executes it. */
    join(attemptId: string): AbortSignal | null;
    leave(attemptId: string): void;
    /** Whether this worker starts no more attempts. */
    readonly areClosing: boolean;
    /** Aborts all attempts when the worker stops. */
    readonly stopping: AbortSignal;
  };
}
