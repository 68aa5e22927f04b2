import { type Expression, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { IdPage } from '#domain/shared/paging/every-row.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { Instance } from '../entity.ts';
import { lockAndReadInstance, readStateContent } from '../state/state.ts';
import { readStateFile } from '../state-file/state-file.ts';
import { refreshList } from './resources.ts';

/**
 * Finds the next instances, by id, whose resource list is missing or stale: an earlier release that writes no lists may run during
 * an upgrade.
 */
export function findStaleLists(em: Em, { after, limit }: IdPage): Promise<{ readonly id: string }[]> {
  return db(em)
    .selectFrom('instances as i')
    .where('i.id', '>', after)
    .where('i.deletedAt', 'is', null)
    .where((eb) => {
      const listed = eb.selectFrom('instance_resources as r').whereRef('r.instanceId', '=', 'i.id').select('r.id');
      const isStale = eb('i.resourcesSerial', 'is distinct from', eb.ref('i.stateSerial'));
      return eb.or([isStale, differ(eb('i.resourceCount', '>', 0), eb.exists(listed))]);
    })
    .orderBy('i.id')
    .limit(limit)
    .select('i.id')
    .execute();
}

function differ(one: Expression<unknown>, other: Expression<unknown>): Expression<SqlBool> {
  return sql<SqlBool>`(${one}) <> (${other})`;
}

/** Lists the resources of an instance by its latest state. */
export function repairResourceList(em: Em, keyRing: KeyRing, instanceId: string): Promise<void> {
  return em.transactional(async (tx) => {
    const instance = await lockAndReadInstance(tx, instanceId);
    await refreshByLatestState(tx, keyRing, instance);
    await tx.flush();
  });
}

/** Lists the resources again within a transaction that has locked the row of the instance; does nothing if the list is up to date. */
export async function refreshListIfStale(em: Em, keyRing: KeyRing, instance: Instance): Promise<void> {
  const { resourcesSerial = null, stateSerial } = instance;
  if (resourcesSerial !== stateSerial) await refreshByLatestState(em, keyRing, instance);
}

async function refreshByLatestState(em: Em, keyRing: KeyRing, instance: Instance): Promise<void> {
  const state = await readStateContent(em, keyRing, instance.id, instance.stateSerial);
  await refreshList(em, instance, state && readStateFile(state.content, state.maskedAddresses));
}
