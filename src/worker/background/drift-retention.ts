import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { forgetHistory } from '#domain/drift/retention/forget-history.ts';
import { type Cutoffs, findMonitorsWithOldHistory } from '#domain/drift/retention/old-history-store.ts';
import { readRetentionDays } from '#domain/settings/retention.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { everyRow, type IdPage } from '#domain/shared/paging/every-row.ts';
import { logFailure } from '#domain/shared/tasks/log-failure.ts';

const dayMs = 24 * 60 * 60_000;
const pageSize = 100;

export interface DriftRetentionDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly driftRetention: { readonly scanDays: number; readonly findingDays: number };
}

/**
 * Removes scans and findings whose retention has ended, in one pass over all monitors. Any number of workers may do so. It selects a
 * monitor once something of it is out of retention for a day, and then removes everything that is out of retention. So each monitor has one
 * removal a day rather than one after each scan. A monitor that fails is tried again in the next pass.
 */
export async function forgetOldHistory(deps: DriftRetentionDeps, now = new Date(), limit = pageSize): Promise<void> {
  const { orm } = deps;
  const cutoffs = await readCutoffs(deps);
  const due = cutoffs(new Date(now.getTime() - dayMs));
  const find = (page: IdPage) => findMonitorsWithOldHistory(orm.em.fork(), due, page);
  for await (const { id } of everyRow(find, limit)) {
    await logFailure(deps, `could not remove the old history of the drift monitor ${id}`, () =>
      forgetHistory(deps, id, cutoffs(now)),
    );
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
