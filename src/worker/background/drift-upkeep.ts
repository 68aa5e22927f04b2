import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { endSuppression, findExpiredSuppressions } from '#domain/drift/findings/expiry.ts';
import { inheritMonitors } from '#domain/drift/monitors/inheritance.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { everyRow, type IdPage } from '#domain/shared/paging/every-row.ts';
import { logFailure } from '#domain/shared/tasks/log-failure.ts';

const pageSize = 100;

export interface DriftUpkeepDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
}

/**
 * Ends the suppressions that have expired, even if no worker was running then, and creates missing inherited monitors. What fails is tried
 * again the next time, and does not delay anything else. Any number of workers may do so.
 */
export async function keepUpDrift(deps: DriftUpkeepDeps, limit = pageSize): Promise<void> {
  await logFailure(deps, 'could not end suppressions of drift findings', () => endSuppressions(deps, limit));
  await logFailure(deps, 'could not make the drift monitors that instances inherit', () =>
    inheritMonitors(deps.transactions),
  );
}

async function endSuppressions(deps: DriftUpkeepDeps, limit: number): Promise<void> {
  const find = (page: IdPage) => findExpiredSuppressions(deps.orm.em.fork(), page);
  for await (const { id } of everyRow(find, limit))
    await logFailure(deps, `could not end the suppression of the drift finding ${id}`, () => endSuppression(deps, id));
}
