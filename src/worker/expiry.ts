import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { destroyExpired, type ExpiredInstance, type ExpiryDeps, findExpired } from '#domain/runs/admission/expiry.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 30_000;
const pageSize = 100;

export interface ExpirerDeps extends ExpiryDeps {
  readonly orm: Orm;
  readonly log: Logger;
}

/** Destroys what has outlived its environment's time to live; any number of workers may look, and one run comes of it. */
export function openExpiry(deps: ExpirerDeps): PeriodicTask {
  return new PeriodicTask({
    ...{ intervalMs, log: deps.log },
    failure: 'what has outlived its environment could not be looked for',
    run: () => expireInstances(deps),
  });
}

/** One pass over all that is due. What cannot be destroyed now is left for the next one, and stands in nobody's way. */
export async function expireInstances(deps: ExpirerDeps, limit = pageSize): Promise<void> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const page = await findExpired(deps.orm.em.fork(), { after, limit });
    for (const expired of page) await expire(deps, expired);
    const last = page.at(-1);
    if (!last || page.length < limit) return;
    after = last.id;
  }
}

async function expire(deps: ExpirerDeps, expired: ExpiredInstance): Promise<void> {
  try {
    await destroyExpired(deps, expired);
    deps.log.info(
      { instance_id: expired.id },
      "a run destroys an instance whose environment's time to live has passed",
    );
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    deps.log.info({ instance_id: expired.id, reason: error.message }, 'an instance that has outlived its time stays');
  }
}
