import type { Logger } from 'pino';
import { destroyExpired, type ExpiryDeps, findExpired } from '#domain/runs/expiry.ts';
import type { Orm } from '#domain/shared/database.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import { pause } from '#engine/sweeper.ts';

const everyMs = 30_000;
const atOnce = 20;

export interface ExpirerDeps extends ExpiryDeps {
  readonly orm: Orm;
  readonly log: Logger;
}

/** Destroys what has outlived its environment's time to live; any number of workers may look, and one run comes of it. */
export class Expirer {
  readonly #deps: ExpirerDeps;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(deps: ExpirerDeps) {
    this.#deps = deps;
  }

  start(): void {
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
      await expireInstances(this.#deps).catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'what has outlived its environment could not be looked for; trying again');
      });
    }
  }
}

/** One pass. What cannot be destroyed now is left for the next one. */
export async function expireInstances(deps: ExpirerDeps): Promise<void> {
  for (const expired of await findExpired(deps.orm.em.fork(), atOnce)) {
    try {
      await destroyExpired(deps, expired);
      deps.log.info(
        { instance_id: expired.id },
        "a run destroys an instance whose environment's time to live has passed",
      );
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      deps.log.info({ instance_id: expired.id, reason: error.message }, 'an instance that has outlived its time stays');
    }
  }
}
