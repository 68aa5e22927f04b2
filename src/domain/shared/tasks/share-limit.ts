import { ServiceError } from '../errors.ts';

export interface Share {
  /** The maximum number of tasks of one holder that run at a time. */
  readonly max: number;
  /** The message that refuses a further task. */
  readonly refusal: string;
}

/** Limits how much of a resource that all callers of this process share one holder may use at a time; refuses further tasks. */
export class ShareLimit {
  readonly #share: Share;
  readonly #held = new Map<string, number>();

  constructor(share: Share) {
    this.#share = share;
  }

  /**
   * Runs a task of these holders, such as a caller and an organization. @throws ServiceError (`limited`) at once, if one of them already
   * uses its share
   */
  async run<Result>(holders: readonly string[], task: () => Promise<Result>): Promise<Result> {
    const { max, refusal } = this.#share;
    if (holders.some((holder) => (this.#held.get(holder) ?? 0) >= max))
      throw new ServiceError('limited', refusal, { retryAfter: 5 });
    for (const holder of holders) this.#change(holder, 1);
    try {
      return await task();
    } finally {
      for (const holder of holders) this.#change(holder, -1);
    }
  }

  #change(holder: string, by: number): void {
    const held = (this.#held.get(holder) ?? 0) + by;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
  }
}
