import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import {
  type DueEntry,
  type DueKind,
  lockTakenEntries,
  postponeEntry,
  removeEntries,
  takeDueEntries,
} from '#domain/shared/events/outbox-store.ts';
import { outboxTopic, type SignalSource } from '#domain/shared/events/topics.ts';
import { PeriodicTask } from './periodic-task.ts';

const batchSize = 100;
const concurrency = 8;

export interface SweeperDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly signals: SignalSource;
  /** The subscriber whose rows of the outbox it delivers. */
  readonly subscriber: string;
  /** Delivers one entry. It may be called again for the same entry, and must settle: the next batch waits for it. */
  readonly deliver: (entry: DueEntry) => Promise<unknown>;
}

/**
 * Delivers the due rows of one subscriber from the outbox, at least once, and the rows of one target in order. Any number of processes may
 * sweep. They do so when they start, and when a signal says that there is something to deliver. A row that fails is tried again later, and
 * the rows of its target wait for it; other targets and other subscribers do not. If the delivery of a row began and did not end, it may
 * have killed its process. Such a row is delivered alone, after the others.
 */
export function openSweeper(deps: SweeperDeps): PeriodicTask {
  return new PeriodicTask({
    // The due watch signals what is due, also after a failure.
    intervalMs: null,
    log: deps.log,
    failure: `could not sweep the outbox for the subscriber "${deps.subscriber}"`,
    run: () => sweepAll(deps),
    wake: { signals: deps.signals, topics: [outboxTopic(deps.subscriber)] },
  });
}

/** Sweeps once. Another sweep follows at once if there may be more rows: after a full batch, or if targets may have a next row. */
async function sweepAll(deps: SweeperDeps): Promise<'again' | undefined> {
  const others = await sweep(deps, 'other', batchSize);
  const suspects = await sweep(deps, 'suspect', 1);
  const isDone = others.found < batchSize && others.delivered + suspects.delivered === 0;
  return isDone ? undefined : 'again';
}

async function sweep(deps: SweeperDeps, kind: DueKind, limit: number): Promise<{ found: number; delivered: number }> {
  const { orm, subscriber } = deps;
  const ids = await takeDueEntries(orm.em.fork(), subscriber, kind, limit);
  if (ids.length === 0) return { found: 0, delivered: 0 };
  return orm.em.fork().transactional(async (em) => {
    const entries = await lockTakenEntries(em, ids);
    const failures = await deliverAll(deps, entries);
    const delivered = entries.map(({ id }) => id).filter((id) => !failures.has(id));
    if (delivered.length > 0) await removeEntries(em, delivered);
    for (const [id, reason] of failures) await postponeEntry(em, id, reason);
    return { found: entries.length, delivered: delivered.length };
  });
}

/** Delivers several entries at a time. Returns the errors of those that failed, by the numbers of their rows. */
async function deliverAll(deps: SweeperDeps, entries: readonly DueEntry[]): Promise<Map<string, string>> {
  const failures = new Map<string, string>();
  const waiting = [...entries];
  const deliverNext = async () => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
      const reason = await deliver(deps, entry);
      if (reason !== null) failures.set(entry.id, reason);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, deliverNext));
  return failures;
}

async function deliver({ log, subscriber, deliver }: SweeperDeps, entry: DueEntry): Promise<string | null> {
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
