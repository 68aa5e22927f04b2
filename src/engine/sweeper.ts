import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';
import {
  type DueEntry,
  type DueKind,
  lockTakenEntries,
  postponeEntry,
  removeEntries,
  takeDueEntries,
} from '#domain/shared/events/outbox-store.ts';
import { PeriodicTask } from './periodic-task.ts';

const batchSize = 100;
const concurrency = 8;
const intervalMs = 1_000;

export interface SweeperDeps {
  readonly orm: Orm;
  readonly log: Logger;
  /** The subscriber whose rows of the outbox it delivers. */
  readonly subscriber: string;
  /** Delivers one entry. It may be called again for the same entry, and must settle: the next batch waits for it. */
  readonly deliver: (entry: DueEntry) => Promise<unknown>;
}

/**
 * Delivers the due rows of one subscriber from the outbox, at least once, and the rows of one target in order. Any number of processes may
 * sweep. A row that fails is tried again later, and the rows of its target wait for it; other targets and other subscribers do not. If the
 * delivery of a row began and did not end, it may have killed its process. Such a row is delivered alone, after the others.
 */
export class Sweeper {
  readonly #deps: SweeperDeps;
  readonly #task: PeriodicTask;

  constructor(deps: SweeperDeps) {
    this.#deps = deps;
    const failure = `could not sweep the outbox for the subscriber "${deps.subscriber}"`;
    this.#task = new PeriodicTask({ intervalMs, log: deps.log, failure, run: () => this.#sweepOnce() });
  }

  start(): void {
    this.#task.start('now');
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  /** Sweeps once. Another sweep follows at once if there may be more rows: after a full batch, or if targets may have a next row. */
  async #sweepOnce(): Promise<'again' | undefined> {
    const others = await this.#sweep('other', batchSize);
    const suspects = await this.#sweep('suspect', 1);
    const isDone = others.found < batchSize && others.delivered + suspects.delivered === 0;
    return isDone ? undefined : 'again';
  }

  async #sweep(kind: DueKind, limit: number): Promise<{ found: number; delivered: number }> {
    const { orm, subscriber } = this.#deps;
    const ids = await orm.em.fork().transactional((em) => takeDueEntries(em, subscriber, kind, limit));
    if (ids.length === 0) return { found: 0, delivered: 0 };
    return orm.em.fork().transactional((em) => this.#deliverTaken(em, ids));
  }

  async #deliverTaken(em: Em, ids: readonly string[]): Promise<{ found: number; delivered: number }> {
    const entries = await lockTakenEntries(em, ids);
    const failures = await this.#deliverAll(entries);
    const delivered = entries.map(({ id }) => id).filter((id) => !failures.has(id));
    if (delivered.length > 0) await removeEntries(em, delivered);
    for (const [id, reason] of failures) await postponeEntry(em, id, reason);
    return { found: entries.length, delivered: delivered.length };
  }

  /** Delivers several entries at a time. Returns the errors of those that failed, by the numbers of their rows. */
  async #deliverAll(entries: readonly DueEntry[]): Promise<Map<string, string>> {
    const failures = new Map<string, string>();
    const waiting = [...entries];
    const deliverNext = async () => {
      for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
        const reason = await this.#deliver(entry);
        if (reason !== null) failures.set(entry.id, reason);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, deliverNext));
    return failures;
  }

  async #deliver(entry: DueEntry): Promise<string | null> {
    const { log, subscriber, deliver } = this.#deps;
    try {
      await deliver(entry);
      return null;
    } catch (error) {
      log.warn(
        { err: error, subscriber, outbox_id: entry.id, target: entry.target },
        'could not deliver from the outbox; trying again',
      );
      return error instanceof Error ? error.message : String(error);
    }
  }
}
