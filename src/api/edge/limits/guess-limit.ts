import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { ServiceError, WrongSecret } from '#domain/shared/errors.ts';
import { giveBack, type Taken, type Taking, take } from '#domain/shared/rate-counts.ts';
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
    const takings = this.#takings(address, account);
    const [narrowest] = takings;
    if (!narrowest) return attempt();
    // Somebody who signs in many times at once waits for the attempts before, instead of being refused for them.
    return this.#turnsOf(narrowest).run(() => this.#attempt(takings, attempt));
  }

  #takings(address: string, account: string): Taking[] {
    const { perAccount, perAddress, windowMs } = this.#limits;
    const takings = [
      { key: keyOf('account', address, account), most: perAccount, windowMs },
      { key: keyOf('address', address), most: perAddress, windowMs },
    ];
    return takings.filter(({ most }) => most > 0);
  }

  async #attempt<Result>(takings: readonly Taking[], attempt: () => Promise<Result>): Promise<Result> {
    const taken = await take(this.#orm.em.fork(), takings);
    let isWrong = false;
    try {
      refuseBeyond(takings, taken);
      return await attempt();
    } catch (error) {
      isWrong = isWrongGuess(error);
      throw error;
    } finally {
      if (!isWrong) await this.#giveBack(taken);
    }
  }

  /** What cannot be given back stays counted until its window ends: better that than an attempt that nobody counts. */
  async #giveBack(taken: readonly Taken[]): Promise<void> {
    await giveBack(this.#orm.em.fork(), taken).catch((error: unknown) => {
      this.#log.warn({ err: error }, 'an attempt that was right, or none at all, stays counted as a wrong guess');
    });
  }

  #turnsOf({ key, most }: Taking): Turns {
    const turns = this.#turns.get(key) ?? new Turns(Math.ceil(most / 4), () => this.#turns.delete(key));
    this.#turns.set(key, turns);
    return turns;
  }
}

/** The account may be spelled in as many ways as its owner's eyes would pass over. */
function keyOf(...parts: string[]): string {
  const text = parts.map((part) => part.trim().toLowerCase().slice(0, 320)).join('\n');
  return `guess:${createHash('sha256').update(text).digest('hex')}`;
}

function refuseBeyond(takings: readonly Taking[], taken: readonly Taken[]): void {
  taken.forEach(({ count, seconds }, index) => {
    const most = takings[index]?.most ?? 0;
    if (count > most) throw tooMany('too many failed attempts', most, seconds);
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
