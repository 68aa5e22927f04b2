import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { removeAbandonedChecks } from '#domain/registry/checks/store.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 10 * 60_000;

/** Removes checks of template versions that nobody waits for, and that have no workflow. Any number of workers may do so. */
export function openCheckUpkeep({ orm, log }: { readonly orm: Orm; readonly log: Logger }): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log,
    failure: 'could not remove checks of template versions that no request waits for',
    run: () => removeAbandonedChecks(orm.em.fork()),
  });
}
