/** The number of jobs that a lane runs at a time. */
export interface LaneSize {
  readonly places: number;
  /** A job without progress for longer than this frees its slot, and continues outside of the lane. Null: it keeps its slot. */
  readonly waitsMs: number | null;
}

interface Job {
  readonly lane: string;
  /** On the clock of `performance.now()`. */
  progressAt: number;
  readonly done: Promise<void>;
}

/**
 * The slots of a sender's jobs, by lane. Requests that wait for an endpoint cost little, so a job that hangs does not keep its slot from
 * the next job: up to `maxWaiting` of them continue outside of the lanes. Any more keep their slots, so that the number of simultaneous
 * jobs is limited.
 */
export class Places<Lane extends string> {
  readonly #lanes: Readonly<Record<Lane, LaneSize>>;
  readonly #maxWaiting: number;
  readonly #jobs = new Set<Job>();

  constructor(lanes: Readonly<Record<Lane, LaneSize>>, maxWaiting: number) {
    this.#lanes = lanes;
    this.#maxWaiting = maxWaiting;
  }

  /** How many more jobs each lane can start now. */
  free(): Record<Lane, number> {
    const jobs = [...this.#jobs];
    const holding = jobs.filter((job) => !this.#isWaiting(job));
    const surplus = Math.max(0, jobs.length - holding.length - this.#maxWaiting);
    const freeOf = (lane: Lane) => {
      const held = holding.filter((job) => job.lane === lane).length;
      return Math.max(0, this.#lanes[lane].places - held - surplus);
    };
    const lanes = Object.keys(this.#lanes) as Lane[];
    return Object.fromEntries(lanes.map((lane) => [lane, freeOf(lane)])) as Record<Lane, number>;
  }

  /** Starts a job, which must not reject. The job reports progress, such as an answer after which it continues. */
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

  /** Resolves when all running jobs have ended. */
  async end(): Promise<void> {
    await Promise.all([...this.#jobs].map(({ done }) => done));
  }

  #isWaiting({ lane, progressAt }: Job): boolean {
    const { waitsMs } = this.#lanes[lane as Lane];
    return waitsMs !== null && performance.now() - progressAt > waitsMs;
  }
}
