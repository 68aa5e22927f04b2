import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { Isolation } from '#domain/workers/model.ts';
import type { Executor } from '#executors/client/executor.ts';
import type { ExecutionLimits } from '#executors/protocol/request.ts';

/** What activities work with, made once for the worker. */
export interface ActivityDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly keyRing: KeyRing;
  readonly log: Logger;
}

export interface ExecutionDeps extends ActivityDeps {
  /** This worker's id: whoever claims an attempt is known by it. */
  readonly workerId: string;
  /** What this worker contains template code with. */
  readonly isolation: Isolation;
  readonly executor: Pick<Executor, 'execute'>;
  /** What one attempt may use. */
  readonly limits: ExecutionLimits;
  /** Keeps states on disk until the database has them. */
  readonly spool: {
    add(state: AttemptState, onRefused: () => void): Promise<void>;
    /** Whether the database has all of them, or one of them could not be stored. */
    settle(attemptId: string): Promise<'settled' | 'refused'>;
  };
  /** Tells attempts that they are over; null: the attempt is here already. `stopping` aborts for all when the worker ends. */
  readonly attempts: {
    join(attemptId: string): AbortSignal | null;
    leave(attemptId: string): void;
    /** Whether this worker begins nothing more. */
    readonly areClosing: boolean;
    readonly stopping: AbortSignal;
  };
}
