import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { InstanceSlot } from './entity.ts';
import { isUnfinished } from './store.ts';

/**
 * Frees the slot of an instance that a finished run still holds. Normally the slot is freed when the run ends, so this is a repair.
 * @throws Conflict if no run holds the slot, or if the run that holds it has not ended: cancel that run instead
 */
export async function unlockInstance(tx: Transaction, instanceId: string, owners: Ownership): Promise<void> {
  const slot = await tx.em.findOne(InstanceSlot, { instanceId });
  if (!slot) throw new Conflict('the instance is not locked', 'instance_not_locked');
  if (await isUnfinished(tx.em, slot.runId))
    throw new Conflict(
      `run ${slot.runId} holds the instance: cancel it (with force, if its worker is gone)`,
      'instance_busy',
    );
  await tx.em.remove(slot).flush();
  tx.publish({ type: 'instance.unlocked', subjectId: instanceId, owners, data: { run_id: slot.runId } });
}
