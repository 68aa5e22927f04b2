import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { InstanceSlot } from './entity.ts';

/**
 * Frees an instance from a run that no longer works on it. A run's lock ends with the run, so there is nothing to free
 * while one lives: that one is to be canceled instead.
 */
export async function unlockInstance(tx: Transaction, instanceId: string, owners: Ownership): Promise<void> {
  const slot = await tx.em.findOne(InstanceSlot, { instanceId });
  if (!slot) throw new Conflict('the instance is not locked');
  const rows = await tx.em.execute<{ live: boolean }[]>(`select finished_at is null as live from runs where id = ?`, [
    slot.runId,
  ]);
  if (rows[0]?.live)
    throw new Conflict(`run ${slot.runId} holds the instance: cancel it (with force, if its worker is gone)`);
  await tx.em.remove(slot).flush();
  tx.publish({ type: 'instance.unlocked', subjectId: instanceId, owners, data: { run_id: slot.runId } });
}
