import { setTimeout as sleep } from 'node:timers/promises';
import type { Em } from '#database/database.ts';
import { isDatabaseAway, isPassingError } from '#database/errors.ts';
import type { ActivityDeps } from './deps.ts';

const retryMs = 1_000;
/** How long the database may refuse for a reason that passes, such as a full disk, before that counts as final. */
const patienceMs = 2 * 60_000;

/**
 * Waits while the database is away, and then writes: the attempt goes on meanwhile. Whatever the database refuses for another
 * reason is thrown, at once or after some minutes: trying it for ever would hold the worker's slot for ever.
 */
export async function persist<T>(
  { orm, log }: Pick<ActivityDeps, 'orm' | 'log'>,
  attemptId: string,
  write: (em: Em) => Promise<T>,
): Promise<T> {
  let refusedSince: number | null = null;
  for (;;) {
    try {
      return await write(orm.em.fork());
    } catch (error) {
      const isAway = isDatabaseAway(error);
      if (!isAway) {
        refusedSince ??= Date.now();
        if (!isPassingError(error) || Date.now() - refusedSince > patienceMs) throw error;
      }
      const message = isAway
        ? 'the database is away; an attempt waits for it'
        : 'the database cannot take this now; trying again';
      log.warn({ err: error, attempt_id: attemptId }, message);
      await sleep(retryMs);
    }
  }
}
