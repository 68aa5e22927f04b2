import type { Logger } from 'pino';
import { Rounds } from '#engine/rounds.ts';
import type { StateSpool } from './state-spool.ts';

const everyMs = 30_000;
const failure = 'what killed workers left could not be taken up';

/**
 * Takes up the states that killed workers of this machine left on their way to the database. Once before a worker takes any
 * work, and then now and again, as another worker on the same data directory may be killed and not come back. What else
 * such workers leave is the executor hosts' to remove.
 */
export class Housekeeping {
  readonly #spool: StateSpool;
  readonly #log: Logger;
  readonly #rounds: Rounds;

  constructor(deps: { spool: StateSpool; log: Logger }) {
    this.#spool = deps.spool;
    this.#log = deps.log;
    this.#rounds = new Rounds({ everyMs, log: deps.log, failure, round: () => this.#takeUp() });
  }

  /** Resolves when everything that was there is taken up. */
  async start(): Promise<void> {
    await this.#takeUp().catch((error: unknown) => this.#log.error({ err: error }, `${failure}; trying again`));
    this.#rounds.start('later');
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  async #takeUp(): Promise<void> {
    await this.#spool.recover();
  }
}
