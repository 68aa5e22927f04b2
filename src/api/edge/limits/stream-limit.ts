import { HttpProblem } from '../errors/http-problem.ts';

/** How many event streams and waiting requests a caller may have open at once in one process: enough for many browser tabs. */
const mostStreams = 100;

const retryAfterSeconds = 10;

/**
 * Limits the event streams and waiting requests that each caller has open. A request limit does not: a stream counts as one
 * request however long it stays open, and each one costs memory and a share of the polling.
 */
export class StreamLimit {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a stream of the caller, and answers the function that ends the stream. @throws HttpProblem (429) at the limit */
  open(callerId: string): () => void {
    const open = this.#open.get(callerId) ?? 0;
    if (open >= this.#most) throw this.#refusal();
    this.#open.set(callerId, open + 1);
    return () => this.#close(callerId);
  }

  #close(callerId: string): void {
    const left = (this.#open.get(callerId) ?? 0) - 1;
    if (left > 0) this.#open.set(callerId, left);
    else this.#open.delete(callerId);
  }

  #refusal(): HttpProblem {
    const message = `too many event streams and waiting requests: you have ${this.#most} open, the most allowed; close one, or poll instead`;
    return new HttpProblem(429, message, { headers: { 'retry-after': String(retryAfterSeconds) } });
  }
}

/** The streams and waiting requests of this process. */
export const openStreams = new StreamLimit(mostStreams);
