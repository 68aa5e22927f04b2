import { FairQueue } from '#domain/shared/tasks/fair-queue.ts';
import type { LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import { HttpProblem } from '../errors/http-problem.ts';

interface Limits {
  /** The maximum number of tasks that run at once, of all people. */
  readonly running: number;
  /** The maximum number of further tasks of one person that wait. */
  readonly waiting: number;
}

const retryAfterSeconds = 2;

/**
 * Runs a limited number of tasks at once, only one for each person. Organizations take turns, and so do the people of each, so that neither
 * one person nor one organization delays everybody else.
 */
export class FairLimit {
  readonly #limits: Limits;
  readonly #queue = new FairQueue<() => void>();
  #running = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Runs a task when it is the person's turn. @throws HttpProblem (429) at once, if too many tasks of the person wait */
  async run<Result>(subject: LimitSubject, task: () => Promise<Result>): Promise<Result> {
    if (this.#queue.count(subject) >= this.#limits.waiting) throw this.#refusal();
    await new Promise<void>((begin) => {
      this.#queue.add(subject, begin);
      this.#beginNext();
    });
    try {
      return await task();
    } finally {
      this.#running -= 1;
      this.#queue.finish(subject);
      this.#beginNext();
    }
  }

  #beginNext(): void {
    while (this.#running < this.#limits.running) {
      const next = this.#queue.take();
      if (!next) return;
      this.#running += 1;
      next.task();
    }
  }

  #refusal(): HttpProblem {
    const message = `too many costly requests: ${this.#limits.waiting} of yours wait already; try again in ${retryAfterSeconds} seconds`;
    return new HttpProblem(429, message, { headers: { 'retry-after': String(retryAfterSeconds) } });
  }
}
