import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { destroyExpired, type ExpiryDeps } from '#domain/runs/admission/expiry/expiry.ts';
import { type ExpiredInstance, findExpired } from '#domain/runs/admission/expiry/expiry-store.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 30_000;
const pageSize = 100;

export interface ExpiryTaskDeps extends ExpiryDeps {
  readonly orm: Orm;
  readonly log: Logger;
}

/** Destroys instances that have outlived their environment's time to live. Any number of workers may do it. */
export function openExpiry(deps: ExpiryTaskDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs,
    log: deps.log,
    failure: "could not look for instances that have outlived their environment's time to live",
    run: () => expireInstances(deps),
  });
}

/** One pass over all expired instances. One that cannot be destroyed now is left for the next pass, and does not delay others. */
export async function expireInstances(deps: ExpiryTaskDeps, limit = pageSize): Promise<void> {
  let after = zeroId;
  for (;;) {
    const page = await findExpired(deps.orm.em.fork(), { after, limit });
    for (const expired of page) await expire(deps, expired);
    const last = page.at(-1);
    if (!last || page.length < limit) return;
    after = last.id;
  }
}

async function expire(deps: ExpiryTaskDeps, expired: ExpiredInstance): Promise<void> {
  const { log } = deps;
  try {
    if (!(await destroyExpired(deps, expired))) return;
    log.info({ instance_id: expired.id }, "an instance has outlived its environment's time to live; a run destroys it");
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    log.info(
      { instance_id: expired.id, reason: error.message },
      "an instance has outlived its environment's time to live and cannot be destroyed now; trying again",
    );
  }
}
