import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { ServiceError, WrongSecret } from '#domain/shared/errors.ts';
import { decrementCounts, incrementCounts, type RateCount, type RateLimit } from '#domain/shared/rate-counts/store.ts';
import { tooMany } from './too-many.ts';

export interface GuessLimits {
  /** Wrong guesses after which an address is refused at one account; 0: never. */
  readonly perAccount: number;
  /** Wrong guesses after which an address is refused at every account (one password tried on many); 0: never. */
  readonly perAddress: number;
  readonly windowMs: number;
}

/**
 * Limits guessing of secrets, over all processes together. Only wrong guesses count, so whoever knows the secret may
 * present it as often as they like; and only by the address they come from, so nobody can lock another out from
 * elsewhere. An attempt counts as wrong until it has ended: many at once win nothing, not even at several processes.
 * Where the database cannot count, nothing may be guessed.
 */
export class GuessLimit {
  readonly #orm: Orm;
  readonly #limits: GuessLimits;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #turns = new Map<string, Turns>();

  constructor(orm: Orm, limits: GuessLimits, log: Pick<Logger, 'warn'>) {
    this.#orm = orm;
    this.#limits = limits;
    this.#log = log;
  }

  /**
   * Runs an attempt that is wrong where it throws `Unauthenticated` or `WrongSecret`.
   * @throws HttpProblem (429) beforehand, where too many from this address were
   */
  async count<Result>(address: string, account: string, attempt: () => Promise<Result>): Promise<Result> {
    const limits = this.#limitsOf(address, account);
    const [narrowest] = limits;
    if (!narrowest) return attempt();
    // Somebody who signs in many times at once waits for the attempts before, instead of being refused for them.
    return this.#turnsOf(narrowest).run(() => this.#attempt(limits, attempt));
  }

  #limitsOf(address: string, account: string): RateLimit[] {
    const { perAccount, perAddress, windowMs } = this.#limits;
    const limits = [
      { key: keyOf('account', address, account), maximum: perAccount, windowMs },
      { key: keyOf('address', address), maximum: perAddress, windowMs },
    ];
    return limits.filter(({ maximum }) => maximum > 0);
  }

  async #attempt<Result>(limits: readonly RateLimit[], attempt: () => Promise<Result>): Promise<Result> {
    const counts = await incrementCounts(this.#orm.em.fork(), limits);
    let isWrong = false;
    try {
      refuseBeyond(limits, counts);
      return await attempt();
    } catch (error) {
      isWrong = isWrongGuess(error);
      throw error;
    } finally {
      if (!isWrong) await this.#uncount(counts);
    }
  }

  /** Where this fails, the attempt stays counted until its window ends, which is safer than not counting it. */
  async #uncount(counts: readonly RateCount[]): Promise<void> {
    await decrementCounts(this.#orm.em.fork(), counts).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'an attempt that was right, or none at all, stays counted as a wrong guess');
    });
  }

  #turnsOf({ key, maximum }: RateLimit): Turns {
    const turns = this.#turns.get(key) ?? new Turns(Math.ceil(maximum / 4), () => this.#turns.delete(key));
    this.#turns.set(key, turns);
    return turns;
  }
}

/** The account may be spelled in as many ways as its owner's eyes would pass over. */
function keyOf(...parts: string[]): string {
  const text = parts.map((part) => part.trim().toLowerCase().slice(0, 320)).join('\n');
  return `guess:${createHash('sha256').update(text).digest('hex')}`;
}

function refuseBeyond(limits: readonly RateLimit[], counts: readonly RateCount[]): void {
  counts.forEach(({ count, seconds }, index) => {
    const maximum = limits[index]?.maximum ?? 0;
    if (count > maximum) throw tooMany('too many failed attempts', maximum, seconds);
  });
}

function isWrongGuess(error: unknown): boolean {
  return error instanceof WrongSecret || (error instanceof ServiceError && error.kind === 'unauthenticated');
}

/** Lets so many work at a time, the others in the order in which they came. */
class Turns {
  readonly #most: number;
  readonly #onIdle: () => void;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(most: number, onIdle: () => void) {
    this.#most = most;
    this.#onIdle = onIdle;
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  /** Hands the turn to who waits longest. */
  #next(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
    if (this.#running === 0) this.#onIdle();
  }
}
