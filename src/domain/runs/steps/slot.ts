import type { Em } from '#database/database.ts';
import { InstanceSlot } from '#domain/instances/entity.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { Run } from '../entity.ts';
import { wakeSignal } from '../model.ts';

/** One instance, one writer: the slot of an instance belongs to one run, from planning to its end. */

/** The queued runs that want to write to an instance, the first in front. */
const queuedWriters = (instanceId: string) => `from runs ahead where ahead.instance_id = ${instanceId}
  and ahead.finished_at is null and ahead.status = 'queued' and ahead.operation <> 'plan' order by ahead.instance_position`;

/** Who is in front of a run in the line of its instance. */
export interface SlotLine {
  /** The run that has the slot. */
  readonly holder: string | null;
  /** The first queued run that wants it. */
  readonly first: string | null;
  /** How many runs come before. */
  readonly position: number;
}

/** `SlotLine` of a row `r` of runs, as an SQL expression. */
export const slotLineOfRun = `jsonb_build_object(
  'holder', (select slot.run_id from instance_slots slot where slot.instance_id = r.instance_id),
  'first', (select ahead.id ${queuedWriters('r.instance_id')} limit 1),
  'position', (select count(*) from runs ahead where ahead.instance_id = r.instance_id and ahead.finished_at is null
                  and ahead.operation <> 'plan' and ahead.instance_position < r.instance_position))`;

/** The run that keeps another one from acquiring the slot: the one that has it, else the one that is ahead in line. */
export function findBlocker(
  runId: string,
  { holder, first, position }: SlotLine,
): { id: string; position: number } | null {
  const blocker = holder ?? first;
  return blocker === null || blocker === runId ? null : { id: blocker, position };
}

/** Gives a run the slot of its instance. The caller holds the instance's row and knows that nothing blocks the run. */
export async function acquireSlot(em: Em, { id: runId, instanceId }: Run): Promise<void> {
  em.persist(em.create(InstanceSlot, { instanceId, runId, acquiredAt: new Date() }));
  await em.flush();
}

/** Frees the slot, if this run has it, and wakes the next run in line. */
export async function releaseSlot(tx: Transaction, run: Run): Promise<void> {
  const released = await tx.em.execute<unknown[]>(`delete from instance_slots where run_id = ? returning instance_id`, [
    run.id,
  ]);
  const [next] = await tx.em.execute<{ workflow_id: string; position: number }[]>(
    `select ahead.idempotency_key as workflow_id, ahead.instance_position as position ${queuedWriters('?')} limit 1`,
    [run.instanceId],
  );
  if (next && (released.length > 0 || next.position > run.instancePosition)) {
    tx.notifyEngine(next.workflow_id, { kind: 'signal', signal: wakeSignal });
  }
}
