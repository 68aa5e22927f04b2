import type { Logger } from 'pino';
import type { RunFeed } from '#api/runs/feed.ts';
import type { ChangeFeed } from '#api/web/live/change-feed.ts';
import type { Config } from '#config';
import type { Orm } from '#database/database.ts';
import type { KeyUses } from '#domain/identity/api-keys/uses.ts';
import type { RefusalLog } from '#domain/shared/commands/refusals.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { InstallationKeys } from '#domain/shared/installation/installation.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';

/** The services that operations use. They are created once per process. */
export interface Services {
  readonly config: Config;
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly keyRing: KeyRing;
  readonly installation: InstallationKeys;
  readonly refusals: RefusalLog;
  readonly keyUses: KeyUses;
  readonly runFeed: RunFeed;
  readonly changeFeed: ChangeFeed;
  readonly evaluator: Evaluator;
  readonly log: Logger;
}
