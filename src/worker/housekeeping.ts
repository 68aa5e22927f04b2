import type { Logger } from 'pino';
import { pause } from '#engine/sweeper.ts';
import { sweepLeftovers } from '#executors/client.ts';
import type { StateSpool } from './state-spool.ts';

const everyMs = 30_000;

/**
 * Takes up what workers of this machine that were killed left behind: processes and directories of their attempts, and
 * states on their way to the database. Once before a worker takes any work, and then now and again, as another worker on
 * the same data directory may be killed and not come back.
 */
export class Housekeeping {
  readonly #workRoot: string;
  readonly #spool: StateSpool;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(deps: { workRoot: string; spool: StateSpool; log: Logger }) {
    this.#workRoot = deps.workRoot;
    this.#spool = deps.spool;
    this.#log = deps.log;
  }

  /** Resolves when everything that was there is taken up. */
  async start(): Promise<void> {
    await this.#tidy();
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    for (;;) {
      await pause(everyMs, this.#stop.signal);
      if (this.#stop.signal.aborted) return;
      await this.#tidy();
    }
  }

  async #tidy(): Promise<void> {
    try {
      const swept = await sweepLeftovers(this.#workRoot);
      if (swept > 0) this.#log.warn({ attempts: swept }, 'swept what attempts of a killed worker had left');
      await this.#spool.recover();
    } catch (error) {
      this.#log.error({ err: error }, 'what killed workers left could not be taken up; trying again');
    }
  }
}
