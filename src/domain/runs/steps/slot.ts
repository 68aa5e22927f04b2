import type { Em } from '#database/database.ts';
import { InstanceSlot } from '#domain/instances/entity.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { wakeSignal } from '#domain/shared/vocabulary/runs.ts';
import type { Run } from '../entity.ts';
import { deleteSlot, findFirstWriter } from './store.ts';

/** Each instance has one slot, so that it has one writer: the slot belongs to one run, from planning to the run's end. */

/** The front of the queue of an instance, as one run sees it. */
export interface SlotQueue {
  /** The run that holds the slot. */
  readonly holder: string | null;
  /** The first queued run that wants it. */
  readonly first: string | null;
  /** How many runs are ahead of this one. */
  readonly position: number;
}

/** The run that keeps another one from acquiring the slot: the one that holds it, else the first in the queue. */
export function findBlocker(
  runId: string,
  { holder, first, position }: SlotQueue,
): { id: string; position: number } | null {
  const blocker = holder ?? first;
  return blocker === null || blocker === runId ? null : { id: blocker, position };
}

/** Gives a run the slot of its instance. The caller has locked the row of the instance and knows that nothing blocks the run. */
export async function acquireSlot(em: Em, { id: runId, instanceId }: Run): Promise<void> {
  em.persist(em.create(InstanceSlot, { instanceId, runId, acquiredAt: new Date() }));
  await em.flush();
}

/** Frees the slot, if this run holds it, and wakes the next run in the queue. */
export async function releaseSlot(tx: Transaction, run: Run): Promise<void> {
  const [isReleased, next] = await Promise.all([deleteSlot(tx.em, run.id), findFirstWriter(tx.em, run.instanceId)]);
  if (next && (isReleased || next.position > run.instancePosition)) {
    tx.notifyEngine(next.workflowId, { kind: 'signal', signal: wakeSignal });
  }
}
