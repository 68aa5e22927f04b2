import { setTimeout as sleep } from 'node:timers/promises';
import type { Em } from '#database/database.ts';
import { isDatabaseUnreachable, isTransientError } from '#database/errors.ts';
import type { ActivityDeps } from './deps.ts';

const retryMs = 1_000;
/** How long the database may refuse with a temporary error, such as a full disk, before the error counts as permanent. */
const refusalTimeoutMs = 2 * 60_000;

/**
 * Writes to the database, and waits while it is unreachable or read-only. The attempt continues meanwhile. Other errors are thrown,
 * temporary ones after some minutes: retrying forever would occupy one of the worker's slots forever.
 */
export async function writeWithRetry<T>(
  { orm, log }: Pick<ActivityDeps, 'orm' | 'log'>,
  attemptId: string,
  write: (em: Em) => Promise<T>,
): Promise<T> {
  let refusedSince: number | null = null;
  for (;;) {
    try {
      return await write(orm.em.fork());
    } catch (error) {
      const isUnreachable = isDatabaseUnreachable(error);
      if (!isUnreachable) {
        refusedSince ??= Date.now();
        if (!isTransientError(error) || Date.now() - refusedSince > refusalTimeoutMs) throw error;
      }
      const message = isUnreachable
        ? 'the database is unreachable or read-only; an attempt waits for it'
        : 'the database could not take a write; trying again';
      log.warn({ err: error, attempt_id: attemptId }, message);
      await sleep(retryMs);
    }
  }
}
