import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { destroyExpired, type ExpiryDeps } from '#domain/runs/admission/expiry/expiry.ts';
import { type ExpiredInstance, findExpired } from '#domain/runs/admission/expiry/expiry-store.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { everyRow } from '#domain/shared/paging/every-row.ts';

const pageSize = 100;

export interface ExpiryTaskDeps extends ExpiryDeps {
  readonly orm: Orm;
  readonly log: Logger;
}

/**
 * Destroys all instances that have outlived their environment's time to live. Any number of workers may do so. One that cannot be destroyed
 * now is left for the next pass, and does not delay others.
 */
export async function expireInstances(deps: ExpiryTaskDeps, limit = pageSize): Promise<void> {
  for await (const expired of everyRow((page) => findExpired(deps.orm.em.fork(), page), limit))
    await expire(deps, expired);
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
