import { EventEmitter, once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';

const pollMs = 400;

/** What a feed reads of each watched row. A row has changed if it is not deeply equal to the last one that was read. */
export interface WatchedRow {
  readonly id: string;
  readonly revision: number;
}

interface Watch<Row> {
  readers: number;
  latest: Row | null;
  readonly changes: EventEmitter;
}

/** Polls the rows that somebody watches: one statement for all of them, and none while nobody watches. */
export class RowFeed<Row extends WatchedRow> {
  readonly #orm: Orm;
  readonly #log: Logger;
  readonly #read: (em: Em, ids: readonly string[]) => Promise<Row[]>;
  readonly #watched = new Map<string, Watch<Row>>();
  #timer: NodeJS.Timeout | undefined;

  /** @param read reads all watched rows in one statement */
  constructor(orm: Orm, log: Logger, read: (em: Em, ids: readonly string[]) => Promise<Row[]>) {
    this.#orm = orm;
    this.#log = log;
    this.#read = read;
  }

  /** Yields the row as soon as it is read, and again whenever it has changed. Ends when the signal aborts. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<Row> {
    const watch = this.#join(id);
    let seen: Row | null = null;
    try {
      while (!signal.aborted) {
        if (watch.latest !== null && watch.latest !== seen) {
          seen = watch.latest;
          yield seen;
        } else {
          await once(watch.changes, 'change', { signal }).catch(() => undefined); // aborted: the loop ends
        }
      }
    } finally {
      this.#leave(id);
    }
  }

  /** Waits until the row has another revision. Resolves to false when the signal aborts. */
  async awaitOther(id: string, revision: number, signal: AbortSignal): Promise<boolean> {
    for await (const row of this.watch(id, signal)) if (row.revision !== revision) return true;
    return false;
  }

  #join(id: string): Watch<Row> {
    const changes = new EventEmitter().setMaxListeners(0);
    const watch = this.#watched.get(id) ?? { readers: 0, latest: null, changes };
    watch.readers += 1;
    this.#watched.set(id, watch);
    this.#timer ??= setTimeout(() => void this.#poll(), 0);
    return watch;
  }

  #leave(id: string): void {
    const watch = this.#watched.get(id);
    if (!watch) return;
    watch.readers -= 1;
    if (watch.readers === 0) this.#watched.delete(id);
  }

  async #poll(): Promise<void> {
    try {
      const rows = await this.#read(this.#orm.em.fork(), [...this.#watched.keys()]);
      for (const row of rows) this.#announce(row);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not read what is watched; trying again');
    }
    this.#timer = this.#watched.size > 0 ? setTimeout(() => void this.#poll(), pollMs) : undefined;
  }

  #announce(row: Row): void {
    const watch = this.#watched.get(row.id);
    if (!watch || isDeepStrictEqual(watch.latest, row)) return;
    watch.latest = row;
    watch.changes.emit('change');
  }
}
