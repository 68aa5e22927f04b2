import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { makePartitions } from '#database/partitions.ts';
import { removeOldSessions } from '#domain/identity/sessions/cleaning.ts';
import { monthlyRetentions } from '#domain/retention.ts';
import { readRetentionDays } from '#domain/settings/retention.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { removeExpiredMonths } from '#domain/shared/retention/monthly-retention.ts';
import { logFailure } from '#domain/shared/tasks/log-failure.ts';
import { PeriodicTask } from './periodic-task.ts';

const intervalMs = 10 * 60_000;

type MonthlyKind = keyof typeof monthlyRetentions;
const monthlyKinds = Object.keys(monthlyRetentions) as MonthlyKind[];

export interface DatabaseMaintenanceDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
  /** The default if the settings say nothing; null: audit records are kept forever. */
  readonly auditRetentionDays: number | null;
}

/**
 * Creates the partitions of coming months, and removes months whose retention has ended and sessions that ended long ago. Every process
 * does it: a run with nothing to do is cheap, and concurrent runs do no harm.
 */
export function openDatabaseMaintenance(deps: DatabaseMaintenanceDeps): PeriodicTask {
  const { orm, log } = deps;
  const run = async () => {
    await logFailure(deps, 'could not make the partitions of coming months', () => makePartitions(orm.em.fork()));
    for (const kind of monthlyKinds)
      await logFailure(deps, `could not remove what is out of retention (${kind})`, () => removeExpired(deps, kind));
    await logFailure(deps, 'could not remove sessions that ended long ago', async () => {
      const sessions = await removeOldSessions(orm.em.fork());
      if (sessions > 0) log.info({ sessions }, 'removed sessions that had ended or expired');
    });
  };
  return new PeriodicTask({ intervalMs, log, failure: 'could not maintain the database', run });
}

async function removeExpired(deps: DatabaseMaintenanceDeps, kind: MonthlyKind): Promise<void> {
  const { orm, log, auditRetentionDays } = deps;
  const days = await readRetentionDays(orm.em.fork(), kind, kind === 'audit' ? auditRetentionDays : null);
  if (days === null) return;
  const months = await removeExpiredMonths(orm.em.fork(), deps, monthlyRetentions[kind], days);
  if (months.length > 0) log.info({ kind, months }, 'removed the months that are out of retention');
}
