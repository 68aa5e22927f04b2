import type { Worker } from 'node:worker_threads';

/** How long a thread may work without an answer. */
export interface SilenceLimits {
  /** The processor time that it may use. */
  readonly processorMs: number;
  /** The time by the clock. It ends a thread that is stuck, or that a busy machine hardly runs. */
  readonly wallMs: number;
}

/** Most tasks end sooner, and are never watched. */
const patienceMs = 1_000;

/**
 * Calls `giveUp` with the used processor time once a thread has used its limit. On a busy machine, a thread of low priority is silent for long although it
 * has hardly begun, so the clock alone ends it much later. Returns what ends the watch.
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

  /** The first measurement is what the others are compared with. The thread uses no more processor time than passes by the clock. */
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
