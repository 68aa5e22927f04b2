import { db } from '#domain/db.ts';
import { lockInstance } from '#domain/instances/store.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { findReadingDeployment } from './dependents-store.ts';
import { readUpstream, type UpstreamRead } from './upstream.ts';

/** Whether an output is not as it was read. What was not compared counts as unchanged. */
export function hasChanged({ upstream }: Pick<UpstreamRead, 'upstream'>): boolean {
  return upstream !== 'unchanged' && upstream !== 'unknown';
}

/** Keeps with an instance whether outputs that it was deployed with are other ones by now, for lists, which cannot open them. */
export async function noteChangedInputs(
  { em }: Pick<Transaction, 'em'>,
  keyRing: KeyRing,
  instanceId: string,
): Promise<void> {
  if (!(await findReadingDeployment(em, instanceId))) return;
  // Of two changes that are looked at side by side, the second one sees what the first one saw.
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
