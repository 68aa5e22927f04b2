import { db } from '#domain/db.ts';
import { lockInstance } from '#domain/instances/store.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { findReadingDeployment } from './dependents-store.ts';
import { readUpstream, type UpstreamRead } from './upstream.ts';

/** Whether an output has changed since it was read. An output that was not compared counts as unchanged. */
export function hasChanged({ upstream }: Pick<UpstreamRead, 'upstream'>): boolean {
  return upstream !== 'unchanged' && upstream !== 'unknown';
}

/**
 * Records on an instance whether outputs that it was deployed with have changed. Lists need this, because they cannot open the sealed
 * values.
 */
export async function noteChangedInputs(
  { em }: Pick<Transaction, 'em'>,
  keyRing: KeyRing,
  instanceId: string,
): Promise<void> {
  if (!(await findReadingDeployment(em, instanceId))) return;
  // The lock puts concurrent checks in order, so that a later result never comes from older outputs.
  await lockInstance(em, instanceId);
  const deployed = await findReadingDeployment(em, instanceId);
  if (!deployed) return;
  const isChanged = (await readUpstream(em, keyRing, instanceId)).some(hasChanged);
  await db(em)
    .updateTable('instances')
    .where('id', '=', instanceId)
    .set({ inputsChangedRunId: isChanged ? deployed.runId : null })
    .execute();
}
