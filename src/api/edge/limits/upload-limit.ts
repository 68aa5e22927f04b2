import { HttpProblem } from '../errors/http-problem.ts';

/** How many large bodies one process takes at once. Each may need several times its size in memory. */
export const mostUploads = 2;

const retryAfterSeconds = 5;

/** Limits how many large bodies a process receives at once: `most` in total and one for each person, so that nobody takes every place. */
export class UploadLimit {
  readonly #most: number;
  readonly #people = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a body, and answers the function that ends it, which may be called twice. @throws HttpProblem (429) at the limit */
  begin(personId: string): () => void {
    if (this.#people.has(personId)) throw refusal('you are sending another one already');
    if (this.#people.size >= this.#most) throw refusal(`the server takes ${this.#most} at once`);
    this.#people.add(personId);
    let hasEnded = false;
    return () => {
      if (!hasEnded) this.#people.delete(personId);
      hasEnded = true;
    };
  }
}

function refusal(reason: string): HttpProblem {
  const message = `too many large bodies: ${reason}; try again in ${retryAfterSeconds} seconds`;
  return new HttpProblem(429, message, { headers: { 'retry-after': String(retryAfterSeconds) } });
}
