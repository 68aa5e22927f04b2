import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { reportSilentWorker } from '#domain/workers/loss.ts';
import { findSilentWorkers } from '#domain/workers/store.ts';

export interface WorkerSupervisionDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
}

/** Reports workers whose heartbeats have stopped. Every worker checks all others; each loss is reported once. */
export async function reportSilentWorkers(deps: WorkerSupervisionDeps): Promise<void> {
  for (const id of await findSilentWorkers(deps.orm.em.fork())) {
    if (await reportSilentWorker(deps, id)) deps.log.warn({ worker_id: id }, 'the heartbeats of a worker have stopped');
  }
}
