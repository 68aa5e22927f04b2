import { describeDuration } from '#domain/shared/values/durations.ts';
import { type ExecutionReason, executionReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import type { WireRequest } from '../protocol/request-schema.ts';
import type { LaunchedJob, Usage } from '../sandbox/job-launcher.ts';
import type { JobLimits } from '../sandbox/job-limits.ts';
import { formatBytes } from '../shared/bytes.ts';
import { reportUnexpectedError } from '../shared/errors.ts';
import type { AttemptControl, StopCause, Urgency } from './attempt-control.ts';

const firstCheckMs = 100;
const maxPauseMs = 500;
/** Checking takes at most this share of the time. */
const checkingShare = 0.1;
/** A file system counts as full slightly before it is, because writes already fail by then. */
const fullShare = 0.995;

/**
 * Stops an attempt that exceeds one of its limits. Each limit has a reason of its own. Where a control group enforces memory,
 * processes and processor time, this class only reports what happened; elsewhere, its checks are the only enforcement.
 */
export class LimitWatch {
  readonly values: JobLimits;
  readonly #control: AttemptControl;
  readonly #wallTimer: NodeJS.Timeout;
  #job: LaunchedJob | null = null;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = firstCheckMs;
  /** Processor time of the attempt's finished jobs. */
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

  watch(job: LaunchedJob): void {
    this.#job = job;
    this.#pauseMs = firstCheckMs;
    this.#schedule();
  }

  unwatch(): void {
    this.#job = null;
    clearTimeout(this.#timer);
    this.#cpuBefore += this.#cpuSeen;
    this.#cpuSeen = 0;
  }

  close(): void {
    this.unwatch();
    clearTimeout(this.#wallTimer);
  }

  /** Checks the usage once. Call it after the programs have ended as well: a limit may have stopped them. */
  async check(): Promise<void> {
    const job = this.#job;
    if (job === null) return;
    const usage = await job.usage();
    // A job that has ended reports no usage any more.
    this.#cpuSeen = Math.max(this.#cpuSeen, usage.cpuSeconds);
    this.#enforce(usage);
  }

  #schedule(): void {
    this.#timer = setTimeout(() => void this.#checkAgain(), this.#pauseMs);
  }

  async #checkAgain(): Promise<void> {
    const job = this.#job;
    const startedAt = performance.now();
    await this.check().catch(reportUnexpectedError);
    const took = performance.now() - startedAt;
    this.#pauseMs = Math.max(Math.min(this.#pauseMs * 1.5, maxPauseMs), took / checkingShare);
    if (job !== null && this.#job === job) this.#schedule();
  }

  #enforce(usage: Usage): void {
    const { diskBytes, processes, memoryBytes, openFiles, cpuSeconds } = this.values;
    if (usage.ranOutOfMemory || usage.memoryBytes > memoryBytes) {
      this.#exceed('memory_limit', formatBytes(memoryBytes), 'now');
    }
    if (usage.ranOutOfProcesses || usage.processes > processes) {
      this.#exceed('process_limit', `${processes}`, 'now');
    }
    if (usage.diskBytes >= diskBytes * fullShare) this.#exceed('directory_limit', formatBytes(diskBytes), 'short');
    if (usage.openFiles >= openFiles) this.#exceed('open_files_limit', `${openFiles} in one process`, 'short');
    if (this.#cpuBefore + this.#cpuSeen > cpuSeconds) this.#exceed('cpu_limit', describeDuration(cpuSeconds), 'short');
  }

  #exceed(reason: ExecutionReason, limit: string, urgency: Urgency): void {
    const message = `${executionReasons[reason]} of ${limit}`;
    this.#control.stop({ outcome: 'limit_exceeded', reason, message, urgency });
  }
}

/** The cause that stops an attempt which printed more than its limit. */
export function outputLimit(bytes: number): StopCause {
  const message = `the attempt printed more than its limit of ${formatBytes(bytes)}`;
  return { outcome: 'limit_exceeded', reason: 'output_limit', message, urgency: 'short' };
}
