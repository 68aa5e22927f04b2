import { crc32 } from 'node:zlib';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { addCounts, type LocalCount } from '#domain/shared/rate-counts/store.ts';

/** The requests of one key in the current window, as far as this process knows them. */
interface Count {
  readonly key: string;
  readonly endsAt: number;
  /** Requests at this process. */
  local: number;
  /** How many of the local requests are included in `total`. */
  synced: number;
  /** Requests at all processes, as of the last synchronization. */
  total: number;
}

/** How often a process synchronizes its counts while there are new ones. */
const syncEveryMs = 250;
/** Counts below this share of the limit are not synchronized. */
const syncedShare = 1 / 20;
/** The number of keys that a process keeps. Beyond it, the oldest keys are dropped. */
const maxKeys = 100_000;

/**
 * Counts requests in memory, and synchronizes the counts of all processes through the database every 250 ms. A limit is
 * exact in one process. Several processes together may exceed it by what they admit in 250 ms, and by a twentieth of the
 * limit each. While the database is down, each process uses its own counts.
 * Windows are fixed. They end at different times for different keys, so that callers do not all return at once.
 */
export class RequestCounts {
  readonly #orm: Orm;
  readonly #log: Pick<Logger, 'warn'>;
  readonly #counts = new Map<string, Count>();
  readonly #unsynced = new Set<Count>();
  #timer: NodeJS.Timeout | undefined;
  #sync: Promise<void> | undefined;
  #isClosed = false;

  constructor(orm: Orm, log: Pick<Logger, 'warn'>) {
    this.#orm = orm;
    this.#log = log;
  }

  /** Counts one request. Returns the requests in this window so far, and the milliseconds until it ends. */
  count(key: string, windowMs: number, max: number): { current: number; ttl: number } {
    const now = Date.now();
    const count = this.#current(key, windowMs, now);
    count.local += 1;
    if (count.local >= max * syncedShare) this.#markUnsynced(count);
    return { current: count.total + count.local - count.synced, ttl: count.endsAt - now };
  }

  /** Stops synchronizing, and waits for a synchronization in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#sync;
  }

  #current(key: string, windowMs: number, now: number): Count {
    const known = this.#counts.get(key);
    if (known && known.endsAt > now) return known;
    const offset = crc32(key) % windowMs;
    const endsAt = (Math.floor((now + offset) / windowMs) + 1) * windowMs - offset;
    const count: Count = { key: `${key}:${endsAt}`, endsAt, local: 0, synced: 0, total: 0 };
    this.#counts.delete(key);
    this.#counts.set(key, count);
    this.#dropOldest();
    return count;
  }

  #dropOldest(): void {
    if (this.#counts.size <= maxKeys) return;
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined) this.#counts.delete(oldest);
  }

  #markUnsynced(count: Count): void {
    this.#unsynced.add(count);
    this.#scheduleSync();
  }

  #scheduleSync(): void {
    if (this.#timer || this.#isClosed || this.#unsynced.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#sync = this.#syncAll().finally(() => {
        this.#timer = undefined;
        this.#scheduleSync();
      });
    }, syncEveryMs).unref();
  }

  async #syncAll(): Promise<void> {
    const counts = [...this.#unsynced];
    this.#unsynced.clear();
    const additions = counts.map(({ key, endsAt, local, synced }): LocalCount => {
      return { key, count: local - synced, endsAt: new Date(endsAt) };
    });
    try {
      const totals = await addCounts(this.#orm.em.fork(), additions);
      counts.forEach((count, index) => {
        count.synced += additions[index]?.count ?? 0;
        count.total = totals.get(count.key) ?? count.total;
      });
    } catch (error) {
      this.#log.warn(
        { err: error },
        'could not synchronize request counts with the database; each process uses its own counts until it can',
      );
      for (const count of counts) if (count.endsAt > Date.now()) this.#unsynced.add(count);
    }
  }
}
