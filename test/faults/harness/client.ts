import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, Caller } from '#test/support/api/caller.ts';

/** What a client may be told while servers come and go; anything else is a fault of the service. */
const excusable = new Set([503, 429]);
const answerWithinMs = 20_000;
const patienceMs = 90_000;

/** Somebody who asks several APIs of one installation, as a client behind a load balancer does. */
export class Client {
  readonly #callers: readonly Caller[];
  readonly #onFault: (what: string) => void;
  #turn = 0;
  /** How long answers took, in milliseconds. */
  readonly durations: number[] = [];

  constructor(urls: readonly string[], key: string, onFault: (what: string) => void) {
    this.#callers = urls.map((url) => new Caller(url, { 'x-api-key': key }));
    this.#onFault = onFault;
  }

  /** One request to one API; undefined where nobody answered it. */
  async try(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer | undefined> {
    const caller = this.#callers[this.#turn++ % this.#callers.length];
    const startedAt = performance.now();
    const answer = await Promise.race([
      caller?.send(method, path, body, headers).catch(() => undefined),
      sleep(answerWithinMs, 'late' as const, { ref: false }),
    ]);
    if (answer === 'late') {
      this.#onFault(`${method} ${path} was not answered within ${answerWithinMs} ms`);
      return undefined;
    }
    if (answer) this.durations.push(performance.now() - startedAt);
    if (answer && answer.status >= 500 && !excusable.has(answer.status))
      this.#onFault(`${method} ${path} was answered ${answer.status}: ${answer.text.slice(0, 300)}`);
    return answer;
  }

  /** Asks until somebody answers otherwise than that he cannot now. @throws Error after all patience */
  async insist(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(200)) {
      const answer = await this.try(method, path, body, headers);
      if (answer && !excusable.has(answer.status)) return answer;
    }
    throw new Error(`nobody answered ${method} ${path} within ${patienceMs / 1000} s`);
  }

  /** The body of an answer that must be a success. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever came, and the test looks into it
  async call(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.insist(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }
}
