import type { Em } from '#database/database.ts';
import { loadVersionById } from '#domain/registry/publication/published.ts';
import { shareSettings } from '#domain/settings/store.ts';
import type { Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { Run } from '../../entity.ts';
import { NoUsableTool } from '../../errors.ts';
import { poolQueue } from '../../model.ts';
import { takeNextStep } from '../../steps/advance.ts';
import { type Claimant, describeWork } from '../claim.ts';
import { type Continuation, nothingKnown, readAttempt } from '../continue.ts';
import { claimForWorker } from '../store.ts';
import { lockBindersForShare } from './connections.ts';
import { selectQueuedRun } from './waiting-attempt-store.ts';

/** The worker that asks must not execute the run. Its transaction is rolled back, and the workflow decides. */
class NotHere extends Error {}

/**
 * Takes the first step of a queued run for a worker with a free slot. If the run begins, the same transaction gives its first attempt to
 * the worker. Nothing is changed or known if the worker must not execute the run, or if others decide about it too: those who have bound
 * connections, or the owners of outputs that it reads. The workflow of the run then asks for its first step.
 */
export async function beginRun(
  transactions: Transactions,
  keyRing: KeyRing,
  runId: string,
  claimant: Claimant,
): Promise<Continuation> {
  try {
    return await transactions.run((tx) => begin(tx, keyRing, runId, claimant));
  } catch (error) {
    if (error instanceof NotHere || error instanceof NoUsableTool) return nothingKnown;
    throw error;
  }
}

async function begin(tx: Transaction, keyRing: KeyRing, runId: string, claimant: Claimant): Promise<Continuation> {
  const [queued] = await selectQueuedRun(tx.em, { runId });
  if (!queued || (await dependsOnOthers(tx.em, queued))) return nothingKnown;
  // What the transaction reads from now on is locked. The choice of the tool depends on the settings.
  await shareSettings(tx.em);
  const { workerId, isolation } = claimant;
  const queue = poolQueue(queued.pool, isolation);
  const step = await takeNextStep(tx, { runId, executed: null, canceled: false, queue });
  if (step.kind !== 'execute') return { step, work: null };
  const { attemptId } = step;
  const given = await claimForWorker(tx.em, { attemptId, workerId, isolation });
  if (given === null) throw new NotHere();
  const run = await tx.em.findOneOrFail(Run, { id: runId });
  const attempt = await readAttempt(tx.em, attemptId);
  const claimed = { ...given, run, attempt, attempts: [attempt], isBound: false, egress: queued.egress };
  return { step, work: await describeWork(tx.em, keyRing, claimant, claimed) };
}

/** Whether others may refuse the first attempt of a run: those who bind connections, or whose outputs it reads. `claimAttempt` then says why. */
async function dependsOnOthers(em: Em, queued: Awaited<ReturnType<typeof selectQueuedRun>>[number]): Promise<boolean> {
  if (queued.reads) return true;
  const { spec } = await loadVersionById(em, queued.templateVersionId);
  if ((spec.connections ?? []).length > 0) return true;
  return (await lockBindersForShare(em, queued)).isBound;
}
