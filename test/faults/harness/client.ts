import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, Caller } from '#test/support/api/caller.ts';
import { readUntil } from '#test/support/read-until.ts';

/** Statuses that a client may get while servers are down. Any other status of 500 or more is a violation. */
const acceptableStatuses = new Set([503, 429]);
const timeoutMs = 20_000;
const retryForMs = 90_000;

/** A client that sends its requests to several APIs in turn, as a load balancer would. */
export class Client {
  readonly #callers: readonly Caller[];
  readonly #onViolation: (what: string) => void;
  #requestCount = 0;
  /** The response times in milliseconds. */
  readonly durations: number[] = [];

  constructor(urls: readonly string[], key: string, onViolation: (what: string) => void) {
    this.#callers = urls.map((url) => new Caller(url, { 'x-api-key': key }));
    this.#onViolation = onViolation;
  }

  /** Sends one request to one API. @returns undefined if no response came */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer | undefined> {
    const caller = this.#callers[this.#requestCount++ % this.#callers.length];
    const startedAt = performance.now();
    const answer = await Promise.race([
      caller?.send(method, path, body, headers).catch(() => undefined),
      sleep(timeoutMs, 'late' as const, { ref: false }),
    ]);
    if (answer === 'late') {
      this.#onViolation(`${method} ${path} got no response within ${timeoutMs} ms`);
      return undefined;
    }
    if (answer) this.durations.push(performance.now() - startedAt);
    if (answer && answer.status >= 500 && !acceptableStatuses.has(answer.status))
      this.#onViolation(`${method} ${path} answered ${answer.status}: ${answer.text.slice(0, 300)}`);
    return answer;
  }

  /** Repeats a request until an API answers it with another status than 503 or 429. @throws Error after 90 seconds */
  async sendWithRetries(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    const isAnswered = (answer?: Answer) => answer !== undefined && !acceptableStatuses.has(answer.status);
    const answer = await readUntil(() => this.send(method, path, body, headers), isAnswered, retryForMs);
    if (answer && isAnswered(answer)) return answer;
    throw new Error(`no API answered ${method} ${path} within ${retryForMs / 1000} s`);
  }

  /** Repeats a request that must succeed. @returns the body of the response @throws Error for any other status */
  // biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the response
  async call(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await this.sendWithRetries(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }
}
