import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import { readEngineNamespace } from '#domain/shared/installation/installation.ts';
import { everyRow } from '#domain/shared/paging/every-row.ts';
import {
  dropWork,
  lockScheduleRepair,
  planWork,
  type ScheduledWork,
  toEngineSchedule,
} from '#domain/shared/schedules/scheduled-work.ts';
import type { Engine } from '#engine/connection.ts';
import { digestOf, type ListedSchedule, listSchedules } from '#engine/schedules.ts';

const pageSize = 500;

export interface ScheduleRepairDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly engine: Engine;
  readonly installationId: string;
  readonly log: Logger;
}

/**
 * Compares the engine's schedules with the rows of the database, and corrects the engine: lost schedules, other times, and schedules whose
 * rows were deleted or archived. One worker of the installation does so at a time; the others return at once.
 */
export async function repairSchedules(deps: ScheduleRepairDeps, works: readonly ScheduledWork[]): Promise<void> {
  const { orm, engine, installationId, log } = deps;
  await orm.em.fork().transactional(async (em) => {
    if (!(await lockScheduleRepair(em))) return;
    if ((await readEngineNamespace(orm)) !== (await engine.check())) return;
    const listed = await listSchedules({ client: engine.client, installationId });
    for (const work of works) {
      const ids = await findDifferences(em, work, listed);
      for (const id of ids) await tellEngine(deps, work, id);
      if (ids.length > 0) log.info({ kind: work.kind, schedules: ids.length }, 'sent schedules to the engine again');
    }
  });
}

/** The rows whose schedules differ in the engine, or are missing there, and the schedules without rows. */
async function findDifferences(em: Em, work: ScheduledWork, listed: readonly ListedSchedule[]): Promise<string[]> {
  const digests = new Map(listed.filter(({ kind }) => kind === work.kind).map(({ id, digest }) => [id, digest]));
  const different: string[] = [];
  for await (const planned of everyRow((page) => work.listPlanned(em, page), pageSize)) {
    if (digests.get(planned.id) !== digestOf(toEngineSchedule(work.kind, planned))) different.push(planned.id);
    digests.delete(planned.id);
  }
  return [...different, ...digests.keys()];
}

/**
 * Corrects a schedule in the engine. It reads the row again under its lock, so that this message and those about changes of the row reach
 * the engine in the order of the commits.
 */
function tellEngine({ transactions }: ScheduleRepairDeps, work: ScheduledWork, id: string): Promise<void> {
  return transactions.run(async (tx) => {
    const planned = await work.lockPlanned(tx.em, id);
    if (planned) planWork(tx, work.kind, planned);
    else dropWork(tx, work.kind, id);
  });
}
