import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { wakeRunsWaitingForShares } from '#domain/runs/steps/shares.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import { removeDeadWorker, reportReturn } from '#domain/workers/loss.ts';
import type { WorkerFacts } from '#domain/workers/model.ts';
import { deregisterWorker, findWorkersOnHost, recordHeartbeat, registerWorker } from '#domain/workers/store.ts';
import { pause } from '#engine/periodic-task.ts';

const heartbeatMs = 5_000;

export interface WorkerRegistrationDeps extends SystemCommandDeps {
  readonly orm: Orm;
  readonly log: Logger;
  readonly facts: Omit<WorkerFacts, 'tools'>;
  /** The tools that the worker has now. An operator may add and remove tools while it runs. */
  readonly findTools: () => Promise<readonly VersionedTool[]>;
  /** Called once, when an operator asks the worker to drain. */
  readonly onDrain: () => void;
}

/**
 * Registers a worker and sends its heartbeats. Queued runs of its pools start only while a worker of the pool is alive, and an attempt
 * whose worker is not registered counts as lost.
 */
export class WorkerRegistration {
  readonly #deps: WorkerRegistrationDeps;
  readonly #stop = new AbortController();
  #draining = false;
  #mustWake = false;
  #loop: Promise<void> | undefined;

  constructor(deps: WorkerRegistrationDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.#deregisterDead();
    await this.#register(await this.#describe());
    this.#loop = this.#run();
  }

  /** Announces that this worker accepts no new work. Running attempts continue. */
  async drain(): Promise<void> {
    this.#draining = true;
    await this.#sendHeartbeat();
  }

  async stop(): Promise<void> {
    const { facts, log } = this.#deps;
    this.#stop.abort();
    await this.#loop;
    await deregisterWorker(this.#em(), facts.id).catch((error: unknown) => {
      log.warn(
        { err: error },
        'could not deregister the worker; it will be considered lost after its heartbeat expires',
      );
    });
  }

  /** Removes killed workers of this machine at once, instead of after the timeout of their heartbeats. */
  async #deregisterDead(): Promise<void> {
    for (const { id, processId } of await findWorkersOnHost(this.#em(), this.#deps.facts.host)) {
      if (processId === process.pid || !isAlive(processId)) await removeDeadWorker(this.#deps, id);
    }
  }

  #beginDrain(): void {
    const { facts, log, onDrain } = this.#deps;
    this.#draining = true;
    log.info({ worker_id: facts.id }, 'an operator drains this worker: it takes no new work');
    onDrain();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await pause(heartbeatMs, this.#stop.signal);
      if (!this.#stop.signal.aborted) await this.#sendHeartbeat();
    }
  }

  async #sendHeartbeat(): Promise<void> {
    const { facts, log } = this.#deps;
    const em = this.#em();
    try {
      const described = await this.#describe();
      const { state, isReportedLost, wasSilent } = await recordHeartbeat(em, {
        ...described,
        draining: this.#draining,
      });
      if (state === 'unregistered') await this.#register(described);
      // Only the first heartbeat after a silence reports it, so waking the runs is repeated until it succeeds.
      this.#mustWake ||= wasSilent;
      if (state !== 'unregistered' && this.#mustWake)
        await this.#deps.transactions.run((tx) => wakeRunsWaitingForShares(tx, facts.pools));
      this.#mustWake = false;
      if (isReportedLost) await reportReturn(this.#deps, facts.id);
      if (state === 'drain' && !this.#draining) this.#beginDrain();
    } catch (error) {
      log.warn({ err: error }, 'could not send the heartbeat; trying again');
    }
  }

  async #register(described: WorkerFacts): Promise<void> {
    await this.#deps.transactions.run(async (tx) => {
      await registerWorker(tx.em, described);
      await wakeRunsWaitingForShares(tx, described.pools);
    });
  }

  async #describe(): Promise<WorkerFacts> {
    const tools = await this.#deps.findTools();
    return { ...this.#deps.facts, tools: tools.map(({ name, version }) => ({ name, version })) };
  }

  #em() {
    return this.#deps.orm.em.fork();
  }
}

/** Whether a process is alive. If its id belongs to another program by now, the worker seems alive until its heartbeat expires. */
function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
