import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { removeOldDebugLogs } from '#domain/runs/debug-logs/debug-logs.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 60 * 60_000;

/** Deletes debug logs that are older than a month. Any number of workers may do so. */
export function openDebugLogRetention({ orm, log }: { readonly orm: Orm; readonly log: Logger }): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log,
    failure: 'could not remove old debug logs',
    run: async () => ((await removeOldDebugLogs(orm.em.fork())) ? 'again' : undefined),
  });
}
