import type { Logger } from 'pino';
import { removeOldSessions } from '#domain/identity/session-cleaning.ts';
import type { Orm } from '#domain/shared/database.ts';
import { pause } from '#engine/sweeper.ts';

const everyMs = 60 * 60_000;

/** Removes what is left of sessions that ended long ago, every hour; any number of workers may do so. */
export class SessionCleaner {
  readonly #orm: Orm;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(deps: { orm: Orm; log: Logger }) {
    this.#orm = deps.orm;
    this.#log = deps.log;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await this.#clean();
      await pause(everyMs, this.#stop.signal);
    }
  }

  async #clean(): Promise<void> {
    try {
      const removed = await removeOldSessions(this.#orm.em.fork());
      if (removed > 0) this.#log.info({ sessions: removed }, 'removed sessions that ended a week ago');
    } catch (error) {
      this.#log.warn({ err: error }, 'old sessions could not be removed; trying again in an hour');
    }
  }
}
