import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { findStaleLists, repairResourceList } from '#domain/instances/resources/resource-list-repair.ts';
import { zeroId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 60_000;
const pageSize = 100;

export interface ResourceListRepairDeps {
  readonly orm: Orm;
  readonly keyRing: KeyRing;
  readonly log: Logger;
}

/**
 * Lists the resources of states that earlier releases stored without such a list. Any number of workers may do it. Once all states are
 * listed, a pass is one query.
 */
export function openResourceListRepair(deps: ResourceListRepairDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log: deps.log,
    failure: 'could not look for instances whose resources are not listed',
    run: () => repairResourceLists(deps),
  });
}

/** One pass over all instances. One whose state cannot be read is left for the next pass, and does not delay others. */
export async function repairResourceLists(deps: ResourceListRepairDeps, limit = pageSize): Promise<void> {
  let after = zeroId;
  for (;;) {
    const page = await findStaleLists(deps.orm.em.fork(), { after, limit });
    for (const id of page) await repair(deps, id);
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    after = last;
  }
}

async function repair({ orm, keyRing, log }: ResourceListRepairDeps, id: string): Promise<void> {
  try {
    await repairResourceList(orm.em.fork(), keyRing, id);
  } catch (error) {
    log.error({ err: error, instance_id: id }, 'could not list the resources of an instance; trying again');
  }
}
