import type { Logger } from 'pino';
import type { RowFeed, WatchedRow } from '#api/pipeline/long-answers/row-feed.ts';
import type { ChangeFeed } from '#api/web/live/change-feed.ts';
import type { Config } from '#config';
import type { Orm } from '#database/database.ts';
import type { KeyUses } from '#domain/identity/api-keys/uses.ts';
import type { WatchedRun } from '#domain/runs/model.ts';
import type { RefusalLog } from '#domain/shared/commands/refusals.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { InstallationKeys } from '#domain/shared/installation/installation.ts';
import type { OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
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
  /**
   * Reports how far the log and the events of a run have come. Both are numbered in the order of their commits, so readers miss nothing.
   */
  readonly runFeed: RowFeed<WatchedRun>;
  readonly assemblyRunFeed: RowFeed<WatchedRow>;
  readonly changeFeed: ChangeFeed;
  readonly evaluator: Evaluator;
  /** Sends requests to addresses that clients have configured. */
  readonly outboundHttp: OutboundHttp;
  readonly log: Logger;
}
