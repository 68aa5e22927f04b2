import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { forgetHistory } from '#domain/drift/retention/forget-history.ts';
import { type Cutoffs, findMonitorsWithOldHistory } from '#domain/drift/retention/old-history-store.ts';
import { readRetentionDays } from '#domain/settings/retention.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 10 * 60_000;
const dayMs = 24 * 60 * 60_000;
const pageSize = 100;

export interface DriftRetentionDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly driftRetention: { readonly scanDays: number; readonly findingDays: number };
}

/** Regularly removes scans and findings whose retention has ended. Any number of workers may do so. */
export function openDriftRetention(deps: DriftRetentionDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log: deps.log,
    failure: 'could not look for drift history that is out of retention',
    run: () => forgetOldHistory(deps),
  });
}

/**
 * One pass over all monitors. It selects a monitor once something of it is out of retention for a day, and then removes everything that is
 * out of retention. So each monitor has one removal a day rather than one after each scan. A monitor that fails is tried again in the next
 * pass.
 */
export async function forgetOldHistory(deps: DriftRetentionDeps, now = new Date(), limit = pageSize): Promise<void> {
  const { orm, log } = deps;
  const cutoffs = await readCutoffs(deps);
  const due = cutoffs(new Date(now.getTime() - dayMs));
  let after = zeroId;
  for (;;) {
    const page = await findMonitorsWithOldHistory(orm.em.fork(), due, { after, limit });
    for (const { id } of page) {
      await forgetHistory(deps, id, cutoffs(now)).catch((error: unknown) => {
        log.warn({ err: error }, `could not remove the old history of the drift monitor ${id}; trying again`);
      });
    }
    const last = page.at(-1);
    if (!last || page.length < limit) return;
    after = last.id;
  }
}

/**
 * Reads the cutoffs. The settings decide; the configuration applies where they say nothing. If something is kept forever, its cutoff is the
 * beginning of time.
 */
async function readCutoffs({ orm, driftRetention: { scanDays, findingDays } }: DriftRetentionDeps) {
  const em = orm.em.fork();
  const scans = await readRetentionDays(em, 'drift_scans', scanDays);
  const findings = await readRetentionDays(em, 'drift_findings', findingDays);
  const before = (now: Date, days: number | null) =>
    days === null ? new Date(0) : new Date(now.getTime() - days * dayMs);
  return (now: Date): Cutoffs => ({ scans: before(now, scans), findings: before(now, findings) });
}
