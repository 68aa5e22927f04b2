import { type ExecutionReason, executionReasons } from '#domain/runs/model.ts';
import { describeDuration } from '#domain/shared/durations.ts';
import type { WireRequest } from '../protocol/messages.ts';
import type { EnclosedJob, Usage } from '../sandbox/enclosure.ts';
import type { EnclosureLimits } from '../sandbox/enclosure-limits.ts';
import { describeBytes } from './amounts.ts';
import type { AttemptControl, Urgency } from './attempt-control.ts';
import { reportUnforeseen } from './attempt-error.ts';

const firstLookMs = 100;
const longestPauseMs = 500;
/** Looking takes at most so much of the time. */
const lookingShare = 0.1;
/** A file system counts as full a little before it is: writes fail by then. */
const nearlyFull = 0.995;

/**
 * Ends an attempt that passes one of its limits, each with its own reason. Where a control group keeps memory, processes and
 * processor time, the group holds the attempt back and this only tells why; elsewhere looking is all that there is.
 */
export class LimitWatch {
  readonly values: EnclosureLimits;
  readonly #control: AttemptControl;
  readonly #wallTimer: NodeJS.Timeout;
  #job: EnclosedJob | null = null;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = firstLookMs;
  /** Processor time of the attempt's earlier jobs. */
  #cpuBefore = 0;
  #cpuSeen = 0;

  constructor({ timeoutMs, limits }: Pick<WireRequest, 'timeoutMs' | 'limits'>, control: AttemptControl) {
    const { directoryBytes, processes, memoryBytes, openFiles, cpuSeconds } = limits;
    this.values = { diskBytes: directoryBytes, processes, memoryBytes, openFiles, cpuSeconds };
    this.#control = control;
    this.#wallTimer = setTimeout(() => {
      const message = `${executionReasons.time_limit} of ${describeDuration(timeoutMs / 1000)}`;
      control.stop({ outcome: 'timed_out', reason: 'time_limit', message, urgency: 'grace' });
    }, timeoutMs);
  }

  follow(job: EnclosedJob): void {
    this.#job = job;
    this.#pauseMs = firstLookMs;
    this.#schedule();
  }

  unfollow(): void {
    this.#job = null;
    clearTimeout(this.#timer);
    this.#cpuBefore += this.#cpuSeen;
    this.#cpuSeen = 0;
  }

  close(): void {
    this.unfollow();
    clearTimeout(this.#wallTimer);
  }

  /** Looks once. To be called also when the programs have ended: what stopped them may have been a limit. */
  async look(): Promise<void> {
    const job = this.#job;
    if (job === null) return;
    const usage = await job.usage();
    // A job that has ended tells nothing any more.
    this.#cpuSeen = Math.max(this.#cpuSeen, usage.cpuSeconds);
    this.#judge(usage);
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#lookAgain(), this.#pauseMs);
  }

  async #lookAgain(): Promise<void> {
    const job = this.#job;
    const startedAt = performance.now();
    await this.look().catch(reportUnforeseen);
    const took = performance.now() - startedAt;
    this.#pauseMs = Math.max(Math.min(this.#pauseMs * 1.5, longestPauseMs), took / lookingShare);
    if (job !== null && this.#job === job) this.#schedule();
  }

  #judge(usage: Usage): void {
    const { diskBytes, processes, memoryBytes, openFiles, cpuSeconds } = this.values;
    if (usage.ranOutOfMemory || usage.memoryBytes > memoryBytes) {
      this.#exceed('memory_limit', describeBytes(memoryBytes), 'now');
    }
    if (usage.ranOutOfProcesses || usage.processes > processes) {
      this.#exceed('process_limit', `${processes}`, 'now');
    }
    if (usage.diskBytes >= diskBytes * nearlyFull) this.#exceed('directory_limit', describeBytes(diskBytes), 'short');
    if (usage.openFiles >= openFiles) this.#exceed('open_files_limit', `${openFiles} in one process`, 'short');
    if (this.#cpuBefore + this.#cpuSeen > cpuSeconds) this.#exceed('cpu_limit', describeDuration(cpuSeconds), 'short');
  }

  #exceed(reason: ExecutionReason, limit: string, urgency: Urgency): void {
    const message = `${executionReasons[reason]} of ${limit}`;
    this.#control.stop({ outcome: 'limit_exceeded', reason, message, urgency });
  }
}
