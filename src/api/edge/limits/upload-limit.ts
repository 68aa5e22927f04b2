import type { LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import { HttpProblem } from '../errors/http-problem.ts';

/** The number of large bodies that one process receives at once. Each may need several times its size in memory. */
export const maxUploads = 3;

const retryAfterSeconds = 5;

/**
 * Limits the number of large bodies that a process receives at once: `max` in total, one for each person, and all but one for the people of
 * one organization. So neither one person nor one organization can use all slots.
 */
export class UploadLimit {
  readonly #max: number;
  readonly #subjects = new Set<LimitSubject>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a body, and returns the function that ends it. This function may be called twice. @throws HttpProblem (429) at the limit */
  begin(subject: LimitSubject): () => void {
    const others = [...this.#subjects];
    const ofOwner = others.filter(({ owner }) => owner === subject.owner).length;
    if (others.some(({ person }) => person === subject.person)) throw refusal('you are sending another one already');
    if (others.length >= this.#max) throw refusal(`the server takes ${this.#max} at once`);
    if (ofOwner >= Math.max(1, this.#max - 1)) throw refusal(`people of your organization send ${ofOwner} already`);
    const own = { ...subject };
    this.#subjects.add(own);
    return () => {
      this.#subjects.delete(own);
    };
  }
}

function refusal(reason: string): HttpProblem {
  const message = `too many large bodies: ${reason}; try again in ${retryAfterSeconds} seconds`;
  return new HttpProblem(429, message, { headers: { 'retry-after': String(retryAfterSeconds) } });
}
