import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiAnswer } from './in-process-api.ts';

const pauseMs = 500;

/**
 * Sends so many requests at once and returns their answers. They are more than the service has connections to its database, and on a busy machine
 * one that waits five seconds for a free connection answers 503 with `Retry-After`. Such a request has done nothing and is sent again, as clients do.
 */
export function sendAtOnce(count: number, send: (index: number) => Promise<ApiAnswer>): Promise<ApiAnswer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => sendUntilTaken(() => send(index))));
}

async function sendUntilTaken(send: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503 || !answer.headers['retry-after'] || answer.body.outcome) return answer;
    await sleep(pauseMs);
  }
}
