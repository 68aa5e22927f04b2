import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { endSuppression, findExpiredSuppressions } from '#domain/drift/findings/expiry.ts';
import { inheritMonitors } from '#domain/drift/monitors/inheritance.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 30_000;
const pageSize = 100;

export interface DriftUpkeepDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
}

/** Regularly ends suppressions and creates inherited monitors. Any number of workers may do so. */
export function openDriftUpkeep(deps: DriftUpkeepDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log: deps.log,
    failure: 'could not keep up drift',
    run: () => keepUpDrift(deps),
  });
}

/**
 * Ends the suppressions that have expired, even if no worker was running then, and creates missing inherited monitors. What fails is tried
 * again the next time, and does not delay anything else.
 */
export async function keepUpDrift(deps: DriftUpkeepDeps, limit = pageSize): Promise<void> {
  await attempt(deps, 'could not end suppressions of drift findings', () => endSuppressions(deps, limit));
  await attempt(deps, 'could not make the drift monitors that instances inherit', () =>
    inheritMonitors(deps.transactions),
  );
}

async function endSuppressions(deps: DriftUpkeepDeps, limit: number): Promise<void> {
  let after = zeroId;
  for (;;) {
    const page = await findExpiredSuppressions(deps.orm.em.fork(), { after, limit });
    for (const { id } of page) {
      await attempt(deps, `could not end the suppression of the drift finding ${id}`, () => endSuppression(deps, id));
    }
    const last = page.at(-1);
    if (!last || page.length < limit) return;
    after = last.id;
  }
}

async function attempt({ log }: DriftUpkeepDeps, failure: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn({ err: error }, `${failure}; trying again`);
  }
}
