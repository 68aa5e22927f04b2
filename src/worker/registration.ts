import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { WorkerFacts } from '#domain/workers/model.ts';
import { deregisterWorker, findWorkersOnHost, recordHeartbeat, registerWorker } from '#domain/workers/store.ts';
import { pause } from '#engine/periodic-task.ts';

const heartbeatMs = 5_000;

/**
 * Registers a worker and sends its heartbeats. Queued runs of its pools begin only while a worker of the pool is alive, and an
 * attempt whose worker is not registered counts as lost.
 */
export class WorkerRegistration {
  readonly #orm: Orm;
  readonly #facts: WorkerFacts;
  readonly #log: Logger;
  readonly #onDrain: () => void;
  readonly #stop = new AbortController();
  #draining = false;
  #loop: Promise<void> | undefined;

  /** @param onDrain is called once, when an operator asks this worker to drain */
  constructor(orm: Orm, facts: WorkerFacts, onDrain: () => void, log: Logger) {
    this.#orm = orm;
    this.#onDrain = onDrain;
    this.#facts = facts;
    this.#log = log;
  }

  async start(): Promise<void> {
    await this.#deregisterDead();
    await registerWorker(this.#orm.em.fork(), this.#facts);
    this.#loop = this.#run();
  }

  /** Records that this worker takes no new work. What it executes goes on. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#sendHeartbeat();
  }

  /** Deregisters workers of this host whose processes have ended, so that nothing waits for their heartbeats to expire. */
  async #deregisterDead(): Promise<void> {
    const em = this.#orm.em.fork();
    for (const { id, processId } of await findWorkersOnHost(em, this.#facts.host)) {
      if (processId === process.pid || !isAlive(processId)) await deregisterWorker(em, id);
    }
  }

  #beginDrain(): void {
    this.#draining = true;
    this.#log.info({ worker_id: this.#facts.id }, 'an operator asked this worker to drain: it takes no new work');
    this.#onDrain();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await deregisterWorker(this.#orm.em.fork(), this.#facts.id).catch((error: unknown) => {
      this.#log.warn(
        { err: error },
        'could not deregister the worker; it will be considered lost after its heartbeat expires',
      );
    });
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await pause(heartbeatMs, this.#stop.signal);
      if (!this.#stop.signal.aborted) await this.#sendHeartbeat();
    }
  }

  async #sendHeartbeat(): Promise<void> {
    const em = this.#orm.em.fork();
    try {
      const answer = await recordHeartbeat(em, this.#facts.id, this.#draining);
      if (answer === 'unregistered') await registerWorker(em, this.#facts);
      if (answer === 'drain' && !this.#draining) this.#beginDrain();
    } catch (error) {
      this.#log.warn({ err: error }, 'could not send the heartbeat; trying again');
    }
  }
}

/** Where another program has the process id by now, the worker seems alive until its heartbeat expires. */
function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
