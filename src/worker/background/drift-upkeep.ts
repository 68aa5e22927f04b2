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

/** Ends suppressions and makes inherited monitors, again and again. Any number of workers may do so. */
export function openDriftUpkeep(deps: DriftUpkeepDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log: deps.log,
    failure: 'could not end suppressions of drift findings, or make the monitors that instances inherit',
    run: () => keepUpDrift(deps),
  });
}

/** Ends the suppressions whose time is over, also if no worker ran when it was, and makes inherited monitors that are missing. */
export async function keepUpDrift(deps: DriftUpkeepDeps, limit = pageSize): Promise<void> {
  let after = zeroId;
  for (;;) {
    const page = await findExpiredSuppressions(deps.orm.em.fork(), { after, limit });
    for (const { id } of page) await endSuppression(deps, id);
    const last = page.at(-1);
    if (!last || page.length < limit) break;
    after = last.id;
  }
  await inheritMonitors(deps.transactions);
}
