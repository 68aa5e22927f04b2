import type { Logger } from 'pino';
import { PeriodicTask } from '#engine/periodic-task.ts';
import type { StateSpool } from './state-spool.ts';

const intervalMs = 30_000;
const failure = 'could not save the states that killed workers left on disk';

/**
 * Saves the states that killed workers of this machine had spooled but not saved. It runs once before the worker accepts any work, and then
 * regularly, because another worker with the same data directory may be killed and not start again. The executor hosts remove everything
 * else that such workers leave.
 */
export class StateRecovery {
  readonly #spool: StateSpool;
  readonly #log: Logger;
  readonly #task: PeriodicTask;

  constructor(deps: { spool: StateSpool; log: Logger }) {
    this.#spool = deps.spool;
    this.#log = deps.log;
    this.#task = new PeriodicTask({ intervalMs, log: deps.log, failure, run: () => this.#spool.recover() });
  }

  /** Resolves after the first run. */
  async start(): Promise<void> {
    await this.#spool.recover().catch((error: unknown) => this.#log.error({ err: error }, `${failure}; trying again`));
    this.#task.start('later');
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }
}
