import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { findUnlisted, relistResources } from '#domain/instances/relisting.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 60_000;
const pageSize = 100;
const firstId = '00000000-0000-0000-0000-000000000000';

export interface RelistingDeps {
  readonly orm: Orm;
  readonly keyRing: KeyRing;
  readonly log: Logger;
}

/**
 * Lists the resources of states that earlier releases have stored without a list. Any number of workers may do it. Once all states
 * are listed, a pass is one query.
 */
export function openRelisting(deps: RelistingDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log: deps.log,
    failure: 'could not look for instances whose resources are not listed',
    run: () => relistInstances(deps),
  });
}

/** One pass over all instances. One whose state cannot be read is left for the next pass and holds up no other. */
export async function relistInstances(deps: RelistingDeps, limit = pageSize): Promise<void> {
  let after = firstId;
  for (;;) {
    const page = await findUnlisted(deps.orm.em.fork(), { after, limit });
    for (const id of page) await relist(deps, id);
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    after = last;
  }
}

async function relist({ orm, keyRing, log }: RelistingDeps, id: string): Promise<void> {
  try {
    await relistResources(orm.em.fork(), keyRing, id);
  } catch (error) {
    log.error({ err: error, instance_id: id }, 'could not list the resources of an instance; trying again');
  }
}
