import type { Logger } from 'pino';
import type { Orm } from '#domain/shared/database.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { Transactions } from '#domain/shared/transaction.ts';

/** What activities work with, made once for the worker. */
export interface ActivityDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly keyRing: KeyRing;
  readonly log: Logger;
  /** This worker's id: whoever claims an attempt is known by it. */
  readonly workerId: string;
}
