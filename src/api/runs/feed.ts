import { EventEmitter, once } from 'node:events';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { readWatchedRuns, type WatchedRun } from '#domain/runs/watched-runs-store.ts';

const pollMs = 400;

interface Watch {
  readers: number;
  latest: WatchedRun | null;
  readonly changes: EventEmitter;
}

/**
 * Follows the runs that readers of this process watch, by one poll of the database for all of them, and none while nobody
 * reads. It announces how far a run's log and its events have come; each reader reads on from its own place. Both are numbered in
 * the order of their commits, so no reader skips anything.
 */
export class RunFeed {
  readonly #orm: Orm;
  readonly #log: Logger;
  readonly #watched = new Map<string, Watch>();
  #timer: NodeJS.Timeout | undefined;

  constructor(orm: Orm, log: Logger) {
    this.#orm = orm;
    this.#log = log;
  }

  /** Answers the run as soon as it is read, and again whenever it has changed. Ends when the signal aborts. */
  async *watch(runId: string, signal: AbortSignal): AsyncGenerator<WatchedRun> {
    const watch = this.#join(runId);
    let seen: WatchedRun | null = null;
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
      this.#leave(runId);
    }
  }

  /** Waits until the run has another revision. Resolves to false when the signal aborts. */
  async awaitOther(runId: string, revision: number, signal: AbortSignal): Promise<boolean> {
    for await (const run of this.watch(runId, signal)) if (run.revision !== revision) return true;
    return false;
  }

  #join(runId: string): Watch {
    const changes = new EventEmitter().setMaxListeners(0);
    const watch = this.#watched.get(runId) ?? { readers: 0, latest: null, changes };
    watch.readers += 1;
    this.#watched.set(runId, watch);
    this.#timer ??= setTimeout(() => void this.#poll(), 0);
    return watch;
  }

  #leave(runId: string): void {
    const watch = this.#watched.get(runId);
    if (!watch) return;
    watch.readers -= 1;
    if (watch.readers === 0) this.#watched.delete(runId);
  }

  async #poll(): Promise<void> {
    try {
      const runs = await readWatchedRuns(this.#orm.em.fork(), [...this.#watched.keys()]);
      for (const run of runs) this.#announce(run);
    } catch (error) {
      this.#log.warn({ err: error }, 'could not read the runs that are watched; trying again');
    }
    this.#timer = this.#watched.size > 0 ? setTimeout(() => void this.#poll(), pollMs) : undefined;
  }

  #announce(run: WatchedRun): void {
    const watch = this.#watched.get(run.id);
    if (!watch || (watch.latest && !hasChanged(watch.latest, run))) return;
    watch.latest = run;
    watch.changes.emit('change');
  }
}

function hasChanged(before: WatchedRun, after: WatchedRun): boolean {
  return (
    before.revision !== after.revision ||
    before.lastLogSequence !== after.lastLogSequence ||
    before.lastEventSequence !== after.lastEventSequence
  );
}
