import { keysOf, type LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import { HttpProblem } from '../errors/http-problem.ts';

/** The maximum number of open event streams and waiting requests in one process. The limit of a person is enough for many browser tabs. */
export const maxStreams = { person: 100, owner: 1_000 };

const retryAfterSeconds = 10;

/**
 * Limits the open event streams and waiting requests of each person, and of the people of each organization together. A limit on requests
 * does not help: a stream counts as one request however long it stays open, and each one costs memory and polling.
 */
export class StreamLimit {
  readonly #max: { readonly person: number; readonly owner: number };
  readonly #open = new Map<string, number>();

  constructor(max: { readonly person: number; readonly owner: number }) {
    this.#max = max;
  }

  /** Counts a stream of the subject, and returns the function that ends the stream. @throws HttpProblem (429) at the limit */
  open(subject: LimitSubject): () => void {
    const [person, owner] = keysOf(subject);
    if (this.#count(person) >= this.#max.person) throw refusal(`you have ${this.#max.person}`);
    if (this.#count(owner) >= this.#max.owner) throw refusal(`your organization has ${this.#max.owner}`);
    const keys = [person, owner];
    for (const key of keys) this.#open.set(key, this.#count(key) + 1);
    return () => {
      for (const key of keys) this.#close(key);
    };
  }

  #count(key: string): number {
    return this.#open.get(key) ?? 0;
  }

  #close(key: string): void {
    const left = this.#count(key) - 1;
    if (left > 0) this.#open.set(key, left);
    else this.#open.delete(key);
  }
}

function refusal(whose: string): HttpProblem {
  const message = `too many event streams and waiting requests: ${whose} open, which is the limit; close one, or poll instead`;
  return new HttpProblem(429, message, { headers: { 'retry-after': String(retryAfterSeconds) } });
}

/** The streams and waiting requests of this process. */
export const openStreams = new StreamLimit(maxStreams);
