import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

const firstPauseMs = 250;
const maxPauseMs = 5_000;
/** Longer than a restart or a failover takes. After it, the process ends, so that an operator notices. */
const giveUpAfterMs = 5 * 60_000;

/**
 * Runs work that needs a server which may be unavailable when this process starts. Retries for five minutes and logs each
 * failed attempt.
 * @throws the last error when the server stays unreachable; any other error at once
 */
export async function waitForServer<Result>(
  server: string,
  { isUnreachable, log }: { isUnreachable: (error: unknown) => boolean; log: Logger },
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = Date.now() + giveUpAfterMs;
  for (let pause = firstPauseMs; ; pause = Math.min(pause * 2, maxPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isUnreachable(error) || Date.now() + pause > deadline) throw error;
      log.warn({ err: error, server }, 'a server that this process needs is unreachable or not ready; trying again');
      await sleep(pause);
    }
  }
}
