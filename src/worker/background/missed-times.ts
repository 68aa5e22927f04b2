import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { recordMissedTimes } from '#domain/schedules/history/missed-times.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 60_000;

export interface MissedTimesDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly log: Logger;
}

/** Once a minute, records times of schedules that passed without a start. */
export function openMissedTimes({ orm, transactions, log }: MissedTimesDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log,
    failure: 'could not look for missed times of schedules',
    run: () => recordMissedTimes({ em: orm.em.fork(), transactions }),
  });
}
