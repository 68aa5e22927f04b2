import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { ServiceError, WrongSecret } from '#domain/shared/errors.ts';
import { giveBack, type Taken, type Taking, take } from '#domain/shared/rate-counts.ts';
import { Semaphore } from './semaphore.ts';
import { tooManyRequests } from './too-many-requests.ts';

export interface GuessLimits {
  /** Wrong guesses after which an address is blocked from one account; 0: no limit. */
  readonly perAccount: number;
  /** Wrong guesses after which an address is blocked from every account (password spraying); 0: no limit. */
  readonly perAddress: number;
  readonly windowMs: number;
}

/**
 * Limits guessing of secrets, across all processes. Only wrong guesses count, so a caller who knows the secret is never
 * limited. Guesses are counted by the address they come from, so an attacker cannot lock out a user elsewhere. An attempt
 * counts as wrong until it has ended, so concurrent attempts gain nothing, not even at several processes. If the database
 * cannot count, the attempt fails.
 */
export class GuessLimit {
  readonly #orm: Orm;
  readonly #limits: GuessLimits;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #semaphores = new Map<string, Semaphore>();

  constructor(orm: Orm, limits: GuessLimits, log: Pick<Logger, 'warn'>) {
    this.#orm = orm;
    this.#limits = limits;
    this.#log = log;
  }

  /**
   * Runs an attempt. It was wrong if it throws `Unauthenticated` or `WrongSecret`.
   * @throws HttpProblem (429) without running it, if too many attempts from this address were wrong
   */
  async count<Result>(address: string, account: string, attempt: () => Promise<Result>): Promise<Result> {
    const takings = this.#limitsOf(address, account);
    const [narrowest] = takings;
    if (!narrowest) return attempt();
    // Concurrent attempts of one caller wait for each other, so that attempts in progress do not count against the limit.
    return this.#semaphoreOf(narrowest).run(() => this.#attempt(takings, attempt));
  }

  #limitsOf(address: string, account: string): Taking[] {
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

  /** If the count cannot be given back, it stands until its window ends. That is safer than not counting wrong attempts. */
  async #giveBack(taken: readonly Taken[]): Promise<void> {
    await giveBack(this.#orm.em.fork(), taken).catch((error: unknown) => {
      this.#log.warn(
        { err: error },
        'an attempt that was not wrong stays counted as a wrong guess until its window ends: the database did not answer',
      );
    });
  }

  #semaphoreOf({ key, most }: Taking): Semaphore {
    const known = this.#semaphores.get(key);
    const semaphore = known ?? new Semaphore(Math.ceil(most / 4), () => this.#semaphores.delete(key));
    this.#semaphores.set(key, semaphore);
    return semaphore;
  }
}

/** Hashes the account, ignoring case and surrounding space: different spellings of one account share a count. */
function keyOf(...parts: string[]): string {
  const text = parts.map((part) => part.trim().toLowerCase().slice(0, 320)).join('\n');
  return `guess:${createHash('sha256').update(text).digest('hex')}`;
}

function refuseBeyond(takings: readonly Taking[], taken: readonly Taken[]): void {
  taken.forEach(({ count, seconds }, index) => {
    const most = takings[index]?.most ?? 0;
    if (count > most) throw tooManyRequests('too many failed attempts', most, seconds);
  });
}

function isWrongGuess(error: unknown): boolean {
  return error instanceof WrongSecret || (error instanceof ServiceError && error.kind === 'unauthenticated');
}
