import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { takeAdvisoryLock } from '#domain/shared/access/authority-lock.ts';
import type { AssemblyRun } from '../../entity.ts';
import { type AssemblyOperation, operationRules } from '../../model.ts';

/** A run of the same assembly in the same environment that has not ended. */
export interface BusyRun {
  readonly id: string;
  readonly operation: AssemblyOperation;
}

type Wanted = Pick<AssemblyRun, 'assemblyId' | 'environmentId' | 'operation'> & { readonly id?: string };

/**
 * The unfinished run that prevents another one from beginning; null if there is none. With `lock`, no such run begins before the commit.
 * The caller holds share locks on the rows of the assembly and the environment.
 */
export async function findBusyRun(em: Em, wanted: Wanted, lock: boolean): Promise<BusyRun | null> {
  const { assemblyId, environmentId, operation, id } = wanted;
  const excluded = operationRules[operation].excludes;
  if (excluded.length === 0) return null;
  if (lock) await takeAdvisoryLock(em, `assemblies/${assemblyId}/environments/${environmentId}`);
  const found = await db(em)
    .selectFrom('assembly_runs')
    .where('assemblyId', '=', assemblyId)
    .where('environmentId', '=', environmentId)
    .where('finishedAt', 'is', null)
    .where('operation', 'in', excluded)
    .$if(id !== undefined, (query) => query.where('id', '<>', id ?? ''))
    .select(['id', 'operation'])
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return found ?? null;
}
