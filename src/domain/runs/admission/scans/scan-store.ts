import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';

/** An instance that is to be scanned, with what its runs are admitted for. */
interface ScannedInstance {
  readonly name: string;
  readonly templateId: string;
  readonly environmentId?: string;
}

export async function findScannedInstance(em: Em, id: string): Promise<ScannedInstance | undefined> {
  const row = await db(em)
    .selectFrom('instances')
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .select(['name', 'templateId', 'environmentId'])
    .executeTakeFirst();
  if (!row) return undefined;
  const { name, templateId, environmentId } = row;
  return { name, templateId, ...(environmentId !== null && { environmentId }) };
}

/** The run that last changed an instance, and the number of its resources. */
export interface LastDeployment {
  readonly runId: string;
  readonly operation: RunOperation;
  readonly versionId: string;
  readonly variables: Record<string, JsonValue | Masked>;
  /** Empty: the run was deleted, and its inputs with it. */
  readonly sealedInputs: Uint8Array;
  readonly instance: string;
  readonly resourceCount: number;
}

export function findLastDeployment(em: Em, instanceId: string): Promise<LastDeployment | undefined> {
  return db(em)
    .selectFrom('instances as i')
    .innerJoin('runs as r', 'r.id', 'i.deployedRunId')
    .where('i.id', '=', instanceId)
    .select([
      'r.id as runId',
      'r.operation',
      'r.templateVersionId as versionId',
      'r.variables',
      'r.sealedInputs',
      'i.name as instance',
      'i.resourceCount',
    ])
    .executeTakeFirst();
}
