import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

const firstPauseMs = 250;
const longestPauseMs = 5_000;
/** Longer than a restart or a failover takes; after that an operator should hear of it by a process that ends. */
const patienceMs = 5 * 60_000;

/**
 * Does what needs a server that may be away when this process starts: tries again for some minutes, saying so in the log.
 * @throws the last error where it stays away, and any error at once that is not about its being away
 */
export async function untilThere<Result>(
  server: string,
  { isAway, log }: { isAway: (error: unknown) => boolean; log: Logger },
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + patienceMs;
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error) || Date.now() + pause > deadline) throw error;
      log.warn({ err: error, server }, 'a server that this process needs is away; waiting for it');
      await sleep(pause);
    }
  }
}
