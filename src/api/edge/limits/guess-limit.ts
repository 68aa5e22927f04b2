import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { ServiceError, WrongSecret } from '#domain/shared/errors.ts';
import { decrementCounts, incrementCounts, type RateCount, type RateLimit } from '#domain/shared/rate-counts/store.ts';
import { ConcurrencyLimit } from '#domain/shared/tasks/concurrency-limit.ts';
import { tooManyRequests } from './too-many-requests.ts';

export interface GuessLimits {
  /** Wrong guesses after which an address is blocked from one account; 0: no limit. */
  readonly perAccount: number;
  /** Wrong guesses after which an address is blocked from every account (password spraying); 0: no limit. */
  readonly perAddress: number;
  readonly windowMs: number;
}

/** The caller who guesses, as far as known. */
export interface GuessCaller {
  readonly address: string;
  /** Many users share the address. It is never blocked from every account, because one of them could lock out the others. */
  readonly isShared?: boolean;
  /** The program that reported the address, if nothing proves the address. */
  readonly reportedBy?: string;
}

/** A program that reports addresses gets this multiple of the limits of one address: for requests, and for guesses at one account. */
export const reportedAddresses = 10;

/**
 * Limits guessing of secrets, across all processes. Only wrong guesses count, so a caller who knows the secret is never limited. Guesses
 * are counted by the address that they come from, so an attacker cannot lock out a user elsewhere. An attempt counts as wrong until it has
 * ended, so concurrent attempts have no advantage, not even at several processes. If the database cannot count, the attempt fails.
 */
export class GuessLimit {
  readonly #orm: Orm;
  readonly #limits: GuessLimits;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #concurrency = new Map<string, ConcurrencyLimit>();

  constructor(orm: Orm, limits: GuessLimits, log: Pick<Logger, 'warn'>) {
    this.#orm = orm;
    this.#limits = limits;
    this.#log = log;
  }

  /**
   * Runs an attempt. It was wrong if it throws `Unauthenticated` or `WrongSecret`.
   * @throws HttpProblem (429) without running it, if too many attempts from this address were wrong
   */
  async count<Result>(caller: GuessCaller, account: string, attempt: () => Promise<Result>): Promise<Result> {
    const limits = this.#limitsOf(caller, account);
    const [narrowest] = limits;
    if (!narrowest) return attempt();
    // Concurrent attempts of one caller wait for each other, so that attempts in progress do not count against the limit.
    const concurrency = this.#concurrencyOf(narrowest);
    try {
      return await concurrency.run(() => this.#attempt(limits, attempt));
    } finally {
      if (concurrency.isIdle) this.#concurrency.delete(narrowest.key);
    }
  }

  #limitsOf({ address, isShared, reportedBy }: GuessCaller, account: string): RateLimit[] {
    const { perAccount, perAddress, windowMs } = this.#limits;
    const limits = [
      { key: keyOf('account', address, account), maximum: perAccount, windowMs },
      ...(isShared ? [] : [{ key: keyOf('address', address), maximum: perAddress, windowMs }]),
      ...(reportedBy === undefined
        ? []
        : [{ key: keyOf('reporter', reportedBy, account), maximum: perAccount * reportedAddresses, windowMs }]),
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

  /**
   * Takes back the count of an attempt. If that fails, the count stays until its window ends, which is safer than not counting wrong
   * attempts.
   */
  async #uncount(counts: readonly RateCount[]): Promise<void> {
    await decrementCounts(this.#orm.em.fork(), counts).catch((error: unknown) => {
      this.#log.warn(
        { err: error },
        'an attempt that was not wrong stays counted as a wrong guess until its window ends: the database did not answer',
      );
    });
  }

  #concurrencyOf({ key, maximum }: RateLimit): ConcurrencyLimit {
    const known = this.#concurrency.get(key);
    const concurrency = known ?? new ConcurrencyLimit({ running: Math.ceil(maximum / 4) });
    this.#concurrency.set(key, concurrency);
    return concurrency;
  }
}

/** Hashes the account, ignoring case and surrounding space: different spellings of one account share a count. */
function keyOf(...parts: string[]): string {
  const text = parts.map((part) => part.trim().toLowerCase().slice(0, 320)).join('\n');
  return `guess:${createHash('sha256').update(text).digest('hex')}`;
}

function refuseBeyond(limits: readonly RateLimit[], counts: readonly RateCount[]): void {
  counts.forEach(({ count, seconds }, index) => {
    const maximum = limits[index]?.maximum ?? 0;
    if (count > maximum) throw tooManyRequests('too many failed attempts', maximum, seconds);
  });
}

function isWrongGuess(error: unknown): boolean {
  return error instanceof WrongSecret || (error instanceof ServiceError && error.kind === 'unauthenticated');
}
