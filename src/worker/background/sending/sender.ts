import type { Logger } from 'pino';
import type { SignalSource } from '#domain/shared/events/topics.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';
import { type LaneSize, Places } from './places.ts';

export interface SenderOptions<Job extends { readonly lane: string }> {
  readonly log: Logger;
  readonly lanes: Readonly<Record<Job['lane'], LaneSize>>;
  /** How many more jobs may wait for an endpoint that does not respond. */
  readonly maxWaiting: number;
  readonly signals: SignalSource;
  /** The topic that says that jobs are due. */
  readonly topic: string;
  /** Leases jobs that are due, up to the number of free places of each lane. */
  readonly lease: (free: Readonly<Record<Job['lane'], number>>) => Promise<readonly Job[]>;
  readonly send: (job: Job, onProgress: () => void) => Promise<void>;
  /** What the log says if no jobs could be leased, and if a job failed, with the ids of the job. */
  readonly failures: { readonly lease: string; readonly send: string };
  readonly idsOf: (job: Job) => object;
}

/** How long it waits at least after a look that found none. */
const gapMs = 50;

/**
 * Leases jobs when a signal says that some are due, while it has free places, and runs each of them independently of the others. Several workers share the jobs by leases. Jobs
 * that a killed worker had leased are leased again.
 */
export class Sender<Job extends { readonly lane: string }> {
  readonly #options: SenderOptions<Job>;
  readonly #places: Places<Job['lane']>;
  readonly #task: PeriodicTask;

  constructor(options: SenderOptions<Job>) {
    this.#options = options;
    const { lanes, maxWaiting, log, failures, signals, topic } = options;
    this.#places = new Places(lanes, maxWaiting);
    this.#task = new PeriodicTask({
      intervalMs: null,
      log,
      failure: failures.lease,
      run: () => this.#leaseSome(),
      wake: { signals, topics: [topic], gapMs },
    });
  }

  start(): void {
    this.#task.start('now');
  }

  /** Waits for the jobs that have begun. */
  async stop(): Promise<void> {
    await this.#task.stop();
    await this.#places.end();
  }

  async #leaseSome(): Promise<'again' | undefined> {
    const { lease } = this.#options;
    const free = this.#places.free();
    if (Object.values(free).every((places) => places === 0)) return undefined;
    const jobs = await lease(free);
    for (const job of jobs) this.#places.begin(job.lane, (onProgress) => this.#send(job, onProgress));
    return jobs.length > 0 ? 'again' : undefined;
  }

  async #send(job: Job, onProgress: () => void): Promise<void> {
    const { send, log, failures, idsOf } = this.#options;
    try {
      await send(job, onProgress);
    } catch (error) {
      log.warn({ err: error, ...idsOf(job) }, `${failures.send}; trying again`);
    }
    // What the job kept others from leasing may have more to send, and nothing else tells of that.
    this.#task.wake();
  }
}
