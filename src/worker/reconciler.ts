import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';
import { type DispatchedRun, endLostRun, findDispatchedRuns } from '#domain/runs/steps/reconcile.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import { readEngineNamespace } from '#domain/shared/installation/installation.ts';
import { recordReconciliation } from '#domain/shared/installation/store.ts';
import type { Engine } from '#engine/connection.ts';
import { isWorkflowGone } from '#engine/deliver.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 60_000;
/** What is younger may not have come to rest yet. */
const graceSeconds = 120;
const pageSize = 200;
const concurrency = 8;
/** More than this is no accident of one run: the engine has lost its data, or is another one. */
const handful = 5;

export interface ReconcilerDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
  readonly engine: Engine;
  readonly log: Logger;
}

/**
 * Compares the runs that have not ended with the engine, and ends those whose workflow is definitely gone: terminated by
 * hand, or lost with the engine's data. Nothing else would ever end them, and what they lock would stay locked. Where
 * more than a handful is gone, it ends none and raises the alarm: that is for people to judge.
 */
export function openReconciler(deps: ReconcilerDeps): PeriodicTask {
  return new PeriodicTask({
    ...{ intervalMs, log: deps.log },
    failure: 'runs could not be compared with the engine',
    run: () => reconcile(deps),
  });
}

/**
 * One pass. Only one worker of the installation makes it at a time; the others have nothing to do.
 * @param graceAfterSeconds how old a run has to be to be looked at
 */
export async function reconcile(deps: ReconcilerDeps, graceAfterSeconds = graceSeconds): Promise<void> {
  await deps.orm.em.fork().transactional(async (em) => {
    const [lock] = await em.execute<[{ locked: boolean }]>(
      `select pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/reconcile', 0)) as locked`,
    );
    if (!lock.locked || !(await isOurEngine(deps))) return;
    const gone = await findGone(deps, em, graceAfterSeconds);
    if (gone.length > handful) raiseAlarm(deps.log, gone);
    else for (const run of gone) await endIfStillGone(deps, run);
    await recordReconciliation(em, gone.length);
  });
}

/** An engine that came back as another one knows none of our workflows, and that proves nothing. */
async function isOurEngine({ engine, orm, log }: ReconcilerDeps): Promise<boolean> {
  const [namespaceId, bound] = await Promise.all([engine.check(), readEngineNamespace(orm)]);
  if (bound === null || bound === namespaceId) return true;
  log.error(
    { bound, namespace_id: namespaceId },
    'the Temporal namespace is not the one of this installation any more',
  );
  return false;
}

/** Walks through the unfinished runs until there are no more, or more are gone than can be an accident. */
async function findGone(deps: ReconcilerDeps, em: Em, graceAfterSeconds: number): Promise<DispatchedRun[]> {
  const gone: DispatchedRun[] = [];
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const page = await findDispatchedRuns(em, { after, graceSeconds: graceAfterSeconds, limit: pageSize });
    const waiting = [...page];
    const askSome = async () => {
      for (let run = waiting.shift(); run && gone.length <= handful; run = waiting.shift()) {
        if (await isWorkflowGone(deps.engine.client, run.workflowId)) gone.push(run);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, askSome));
    const last = page.at(-1);
    if (!last || page.length < pageSize || gone.length > handful) return gone;
    after = last.id;
  }
}

/** A workflow ends after its run has: the run is read once more, under its lock. */
async function endIfStillGone({ transactions, log }: ReconcilerDeps, { id }: DispatchedRun): Promise<void> {
  if (await transactions.run((tx) => endLostRun(tx, id))) {
    log.warn({ run_id: id }, 'a run was ended, since the engine has lost its workflow');
  }
}

function raiseAlarm(log: Logger, gone: readonly DispatchedRun[]): void {
  log.error(
    { runs: gone.map(({ id }) => id) },
    'ALARM: the engine has lost the workflows of many runs; none is ended. Restore the data of the engine, or cancel these runs with force',
  );
}
