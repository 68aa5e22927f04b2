import { HttpProblem } from '../errors/http-problem.ts';

/** How many large bodies one process takes at once. Each may need several times its size in memory. */
export const mostUploads = 2;

const retryAfterSeconds = 5;

/** Limits how many large bodies a process receives at once: `most` in total and one for each caller, so that no caller takes every place. */
export class UploadLimit {
  readonly #most: number;
  readonly #callers = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a body, and answers the function that ends it, which may be called twice. @throws HttpProblem (429) at the limit */
  begin(callerId: string): () => void {
    if (this.#callers.has(callerId)) throw refusal('you are sending another one already');
    if (this.#callers.size >= this.#most) throw refusal(`the server takes ${this.#most} at once`);
    this.#callers.add(callerId);
    let hasEnded = false;
    return () => {
      if (!hasEnded) this.#callers.delete(callerId);
      hasEnded = true;
    };
  }
}

function refusal(reason: string): HttpProblem {
  const message = `too many large bodies: ${reason}; try again in ${retryAfterSeconds} seconds`;
  return new HttpProblem(429, message, { headers: { 'retry-after': String(retryAfterSeconds) } });
}
