import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { ResolveDeps } from '#domain/runs/admission/run-request.ts';
import type { UpstreamRead } from '#domain/runs/references/upstream.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import type { Follow } from './follows-store.ts';

export interface FollowDeps extends ResolveDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly bindingKey: Buffer;
  readonly log: Logger;
}

/** A possible change of the outputs that an instance was deployed with. */
export interface UpstreamChange {
  readonly follow: Follow;
  /** The states of the sources once this change has been followed. */
  readonly seen: string;
  /** The changed reads; if none is known to have changed, those that could not be compared. */
  readonly reads: readonly UpstreamRead[];
  /** The run that changed them; null: none did. */
  readonly startedBy: string | null;
  /** The runs that produced the present outputs. */
  readonly runs: readonly string[];
}
