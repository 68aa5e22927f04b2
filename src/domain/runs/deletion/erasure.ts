import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Instance } from '#domain/instances/entity.ts';
import type { Run } from '../entity.ts';

/** The sealed inputs of a deleted run. */
const erased = Buffer.alloc(0);

/**
 * Erases the sealed inputs of a run that is being deleted. The run by which its instance is deployed keeps them, since the
 * destruction after the environment's time to live needs them; `recordDeployedRun` erases them later. The rows of the run and its
 * instance are locked.
 */
export async function eraseInputs(em: Em, run: Run): Promise<void> {
  const deployed = await db(em)
    .selectFrom('instances')
    .where('id', '=', run.instanceId)
    .where('deployedRunId', '=', run.id)
    .where('resourceCount', '>', 0)
    .select('id')
    .executeTakeFirst();
  if (!deployed) run.sealedInputs = erased;
}

/** Records the run by which an instance is deployed. An earlier one that was deleted loses its inputs. The instance is locked. */
export async function recordDeployedRun(em: Em, instance: Instance, runId: string): Promise<void> {
  const earlierId = instance.deployedRunId ?? null;
  if (earlierId === runId) return;
  instance.deployedRunId = runId;
  instance.revision += 1;
  if (earlierId === null) return;
  await db(em)
    .updateTable('runs')
    .set({ sealedInputs: erased })
    .where('id', '=', earlierId)
    .where('deletedAt', 'is not', null)
    .execute();
}
