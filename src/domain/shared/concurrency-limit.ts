import { Unavailable } from './errors.ts';

export interface TurnLimits {
  /** How much is done at once. */
  readonly atOnce: number;
  /** How much may wait for its turn; what comes then is refused. */
  readonly waiting: number;
  /** What a client is told who is refused. */
  readonly refusal: string;
}

/** Lets heavy work through a little at a time, first come, first served, with a line that cannot grow for ever. */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #line: (() => void)[] = [];
  #underWay = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Does the work when its turn comes. @throws Unavailable at once, where too much waits already */
  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.#wait();
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  async #wait(): Promise<void> {
    if (this.#underWay < this.#limits.atOnce) {
      this.#underWay += 1;
      return;
    }
    if (this.#line.length >= this.#limits.waiting) throw new Unavailable(this.#limits.refusal);
    await new Promise<void>((resolve) => this.#line.push(resolve));
  }

  /** The next in line takes the place over, so that nobody slips in between. */
  #passOn(): void {
    const next = this.#line.shift();
    if (next) next();
    else this.#underWay -= 1;
  }
}
