import { EventEmitter, once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';
import { type SignalSource, subjectTopic } from '#domain/shared/events/topics.ts';
import { FeedPolls } from './feed-polls.ts';

/** What a feed needs. */
export interface FeedDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly signals: SignalSource;
}

/** What a feed reads of each watched row. A row has changed if it is not deeply equal to the last one that was read. */
export interface WatchedRow {
  readonly id: string;
  readonly revision: number;
}

interface Watch<Row> {
  readers: number;
  latest: Row | null;
  readonly changes: EventEmitter;
  /** Ends the hearing of signals about the row. */
  readonly forget: () => void;
}

/**
 * Reads the rows that somebody watches: those with an event as soon as it is signalled, and all of them in one statement every 400 ms. It
 * does not read while nobody watches.
 */
export class RowFeed<Row extends WatchedRow> {
  readonly #orm: Orm;
  readonly #signals: SignalSource;
  readonly #read: (em: Em, ids: readonly string[]) => Promise<Row[]>;
  readonly #watched = new Map<string, Watch<Row>>();
  /** The ids of watched rows that may have changed. */
  readonly #stale = new Set<string>();
  readonly #polls: FeedPolls;

  /** @param read reads rows in one statement */
  constructor({ orm, log, signals }: FeedDeps, read: (em: Em, ids: readonly string[]) => Promise<Row[]>) {
    this.#orm = orm;
    this.#signals = signals;
    this.#read = read;
    this.#polls = new FeedPolls({
      log,
      read: (isPeriodic) => this.#readStale(isPeriodic),
      isWatched: () => this.#watched.size > 0,
      failure: 'could not read what is watched',
      gapMs: 0,
    });
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

  /** Waits until the row is as `isAwaited` demands. Resolves to false when the signal aborts. */
  async awaitRow(id: string, isAwaited: (row: Row) => boolean, signal: AbortSignal): Promise<boolean> {
    for await (const row of this.watch(id, signal)) if (isAwaited(row)) return true;
    return false;
  }

  #join(id: string): Watch<Row> {
    const watch = this.#watched.get(id) ?? this.#begin(id);
    watch.readers += 1;
    return watch;
  }

  #begin(id: string): Watch<Row> {
    const readAgain = () => {
      this.#stale.add(id);
      this.#polls.call();
    };
    const forget = this.#signals.on([subjectTopic(id)], readAgain);
    const watch = { readers: 0, latest: null, changes: new EventEmitter().setMaxListeners(0), forget };
    this.#watched.set(id, watch);
    readAgain();
    return watch;
  }

  #leave(id: string): void {
    const watch = this.#watched.get(id);
    if (!watch) return;
    watch.readers -= 1;
    if (watch.readers > 0) return;
    watch.forget();
    this.#watched.delete(id);
  }

  async #readStale(isPeriodic: boolean): Promise<void> {
    const ids = [...(isPeriodic ? this.#watched.keys() : this.#stale)].filter((id) => this.#watched.has(id));
    this.#stale.clear();
    if (ids.length === 0) return;
    const rows = await this.#read(this.#orm.em.fork(), ids);
    for (const row of rows) this.#announce(row);
  }

  #announce(row: Row): void {
    const watch = this.#watched.get(row.id);
    if (!watch || isDeepStrictEqual(watch.latest, row)) return;
    watch.latest = row;
    watch.changes.emit('change');
  }
}
