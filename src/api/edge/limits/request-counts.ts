import { crc32 } from 'node:zlib';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { addCounts, type LocalCount } from '#domain/shared/rate-counts/store.ts';

/** What this process knows of one key's requests in the current window. */
interface Count {
  readonly key: string;
  readonly endsAt: number;
  /** By this process. */
  own: number;
  /** How many of its own it has told the others. */
  told: number;
  /** By all processes together, when they were told. */
  shared: number;
}

/** How often processes tell each other what they have counted, while there is something to tell. */
const exchangeEveryMs = 250;
/** Whoever has used less than this share of its limit at a process is not worth telling of. */
const toldShare = 1 / 20;
/** As many are kept as a process may see in one window; beyond, the oldest are forgotten. */
const mostKeys = 100_000;

/**
 * Counts requests without asking the database for each: in this process, and over all of them by an exchange every 250 ms.
 * So a limit holds exactly in one process; together, several may let through at most what they admit in 250 ms, and a
 * twentieth of the limit each, beyond it. Where the database is away, each process goes on by its own count.
 * Windows are fixed; their ends differ from key to key, so that not everybody comes back in the same moment.
 */
export class RequestCounts {
  readonly #orm: Orm;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #counts = new Map<string, Count>();
  readonly #untold = new Set<Count>();
  #timer: NodeJS.Timeout | undefined;
  #exchange: Promise<void> | undefined;
  #isClosed = false;

  constructor(orm: Orm, log: Pick<Logger, 'warn'>) {
    this.#orm = orm;
    this.#log = log;
  }

  /** Counts one more request; answers how many there were in this window, and the milliseconds until it ends. */
  count(key: string, windowMs: number, most: number): { current: number; ttl: number } {
    const now = Date.now();
    const count = this.#current(key, windowMs, now);
    count.own += 1;
    if (count.own >= most * toldShare) this.#tell(count);
    return { current: count.shared + count.own - count.told, ttl: count.endsAt - now };
  }

  /** Nothing is told any more; waits for what is on its way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#exchange;
  }

  #current(key: string, windowMs: number, now: number): Count {
    const known = this.#counts.get(key);
    if (known && known.endsAt > now) return known;
    const offset = crc32(key) % windowMs;
    const endsAt = (Math.floor((now + offset) / windowMs) + 1) * windowMs - offset;
    const count: Count = { key: `${key}:${endsAt}`, endsAt, own: 0, told: 0, shared: 0 };
    this.#counts.delete(key);
    this.#counts.set(key, count);
    this.#forgetOldest();
    return count;
  }

  #forgetOldest(): void {
    if (this.#counts.size <= mostKeys) return;
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined) this.#counts.delete(oldest);
  }

  #tell(count: Count): void {
    this.#untold.add(count);
    this.#exchangeSoon();
  }

  #exchangeSoon(): void {
    if (this.#timer || this.#isClosed || this.#untold.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#exchange = this.#exchangeAll().finally(() => {
        this.#timer = undefined;
        this.#exchangeSoon();
      });
    }, exchangeEveryMs).unref();
  }

  async #exchangeAll(): Promise<void> {
    const counts = [...this.#untold];
    this.#untold.clear();
    const additions = counts.map(({ key, endsAt, own, told }): LocalCount => {
      return { key, count: own - told, endsAt: new Date(endsAt) };
    });
    try {
      const shared = await addCounts(this.#orm.em.fork(), additions);
      counts.forEach((count, index) => {
        count.told += additions[index]?.count ?? 0;
        count.shared = shared.get(count.key) ?? count.shared;
      });
    } catch (error) {
      this.#log.warn({ err: error }, 'counts of requests could not be shared; each process goes by its own meanwhile');
      for (const count of counts) if (count.endsAt > Date.now()) this.#untold.add(count);
    }
  }
}
