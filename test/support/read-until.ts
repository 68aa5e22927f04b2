import { setTimeout as sleep } from 'node:timers/promises';

const [shortestPauseMs, longestPauseMs] = [50, 250];

/**
 * Reads until what it read satisfies the condition, or the time is over. Returns what it read last, so that the caller can say what is wrong with
 * it. The pauses grow, because reading costs the service more than the test loses by a late answer.
 */
export async function readUntil<Read>(
  read: () => Promise<Read>,
  isReached: (read: Read) => boolean,
  withinMs: number,
): Promise<Read> {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    const found = await read();
    if (isReached(found) || Date.now() > deadline) return found;
    await sleep(pauseMs);
  }
}
