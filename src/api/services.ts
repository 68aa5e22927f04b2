import type { Logger } from 'pino';
import type { Config } from '#config';
import type { KeyUses } from '#domain/identity/key-uses.ts';
import type { Orm } from '#domain/shared/database.ts';
import type { InstallationKeys } from '#domain/shared/installation.ts';
import type { RefusalLog } from '#domain/shared/refusals.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { Transactions } from '#domain/shared/transaction.ts';
import type { RunFeed } from './run-feed.ts';

/** What operations work with, made once for the process. */
export interface Services {
  readonly config: Config;
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly keyRing: KeyRing;
  readonly installation: InstallationKeys;
  readonly refusals: RefusalLog;
  readonly keyUses: KeyUses;
  readonly runFeed: RunFeed;
  readonly log: Logger;
}
