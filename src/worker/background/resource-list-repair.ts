import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { findStaleLists, repairResourceList } from '#domain/instances/resources/resource-list-repair.ts';
import { everyRow } from '#domain/shared/paging/every-row.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';

const pageSize = 100;

export interface ResourceListRepairDeps {
  readonly orm: Orm;
  readonly keyRing: KeyRing;
  readonly log: Logger;
}

/**
 * Lists the resources of states that earlier releases stored without such a list. Any number of workers may do so. One whose state cannot
 * be read is left for the next pass, and does not delay others. Once all states are listed, a pass is one query.
 */
export async function repairResourceLists(deps: ResourceListRepairDeps, limit = pageSize): Promise<void> {
  for await (const { id } of everyRow((page) => findStaleLists(deps.orm.em.fork(), page), limit))
    await repair(deps, id);
}

async function repair({ orm, keyRing, log }: ResourceListRepairDeps, id: string): Promise<void> {
  try {
    await repairResourceList(orm.em.fork(), keyRing, id);
  } catch (error) {
    log.error({ err: error, instance_id: id }, 'could not list the resources of an instance; trying again');
  }
}
