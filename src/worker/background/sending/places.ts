/** How many jobs a lane has at a time. */
export interface LaneSize {
  readonly places: number;
  /** A job that made no progress for longer gives its place to another and goes on beside the lane; null: it keeps its place. */
  readonly waitsMs: number | null;
}

interface Job {
  readonly lane: string;
  /** In the time of `performance.now()`. */
  progressAt: number;
  readonly done: Promise<void>;
}

/**
 * The places of a sender's jobs, by lanes. Requests that wait for an endpoint cost little, so those that hang do not keep a place from the next job:
 * up to `maxWaiting` of them go on beside the lanes. Beyond that they keep their places, so that what runs at a time stays bounded.
 */
export class Places<Lane extends string> {
  readonly #lanes: Readonly<Record<Lane, LaneSize>>;
  readonly #maxWaiting: number;
  readonly #jobs = new Set<Job>();

  constructor(lanes: Readonly<Record<Lane, LaneSize>>, maxWaiting: number) {
    this.#lanes = lanes;
    this.#maxWaiting = maxWaiting;
  }

  /** How many more jobs a lane may begin now. */
  free(lane: Lane): number {
    const jobs = [...this.#jobs];
    const waiting = jobs.filter((job) => this.#isWaiting(job)).length;
    const held = jobs.filter((job) => job.lane === lane && !this.#isWaiting(job)).length;
    return Math.max(0, this.#lanes[lane].places - held - Math.max(0, waiting - this.#maxWaiting));
  }

  /** Begins a job, which must not reject. It tells its progress, such as an answer after which it goes on. */
  begin(lane: Lane, work: (onProgress: () => void) => Promise<void>): void {
    const onProgress = () => {
      job.progressAt = performance.now();
    };
    const done = Promise.resolve()
      .then(() => work(onProgress))
      .finally(() => this.#jobs.delete(job));
    const job: Job = { lane, progressAt: performance.now(), done };
    this.#jobs.add(job);
  }

  /** Resolves when the jobs that are under way have ended. */
  async end(): Promise<void> {
    await Promise.all([...this.#jobs].map(({ done }) => done));
  }

  #isWaiting({ lane, progressAt }: Job): boolean {
    const { waitsMs } = this.#lanes[lane as Lane];
    return waitsMs !== null && performance.now() - progressAt > waitsMs;
  }
}
