import type { Worker } from 'node:worker_threads';

/** How long a thread may work without an answer. */
export interface SilenceLimits {
  /** The processor time that it may use. */
  readonly processorMs: number;
  /** The elapsed time. It ends a thread that is stuck, or that gets hardly any processor time on a busy machine. */
  readonly wallMs: number;
}

/** How long a task runs before its thread is watched. Most tasks end sooner. */
const patienceMs = 1_000;

/**
 * Calls `giveUp` with the used processor time once a thread has used its limit. On a busy machine, a thread of low priority may be silent
 * for long although it has hardly run, so the limit of elapsed time is much longer. Returns a function that stops the watch.
 */
export function watchSilence(
  thread: Pick<Worker, 'cpuUsage'>,
  { processorMs, wallMs }: SilenceLimits,
  giveUp: (usedMs: number) => void,
): () => void {
  let usedMs = 0;
  let before: NodeJS.CpuUsage | undefined;
  let timer = setTimeout(measure, Math.min(patienceMs, processorMs));
  const last = setTimeout(() => end(), wallMs);
  let isOver = false;

  function stop(): void {
    isOver = true;
    clearTimeout(timer);
    clearTimeout(last);
  }

  function end(): void {
    stop();
    giveUp(usedMs);
  }

  function measure(): void {
    // A thread that is about to start or has ended has no usage: its exit or the clock ends the task.
    thread.cpuUsage(before).then(judge, () => wait(patienceMs));
  }

  /**
   * The first measurement is the baseline of the others. The next check can wait for the rest of the limit, since a thread uses no more
   * processor time than elapsed time.
   */
  function judge(usage: NodeJS.CpuUsage): void {
    if (before) usedMs = (usage.user + usage.system) / 1_000;
    before ??= usage;
    if (usedMs >= processorMs) end();
    else wait(Math.max(100, processorMs - usedMs));
  }

  function wait(milliseconds: number): void {
    if (!isOver) timer = setTimeout(measure, milliseconds);
  }

  return stop;
}
