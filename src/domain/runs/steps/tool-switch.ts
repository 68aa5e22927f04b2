import { lockAndReadInstance } from '#domain/instances/state/state.ts';
import { recordWriter } from '#domain/instances/writer.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { Run } from '../entity.ts';

/**
 * Switches an instance to the tool with which a run has planned no change. The next runs use its state with that tool. The caller has
 * locked the run.
 */
export async function switchTool(tx: Transaction, { instanceId, tool, toolSwitch }: Run): Promise<void> {
  if (!tool || !toolSwitch) throw new Error('a run that switches no tool, or has none, cannot switch to it');
  const instance = await lockAndReadInstance(tx.em, instanceId);
  recordWriter(instance, tool);
  instance.wantedTool = toolSwitch.version === undefined ? null : toolSwitch;
  instance.revision += 1;
  await tx.em.flush();
}
