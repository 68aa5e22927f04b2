import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from './installation.ts';

export interface Vitals {
  /** How long the slowest hundredth of the reads took at least, in milliseconds. */
  readonly p99Ms: number;
  readonly reads: number;
  /** The most memory that any worker, and any API, had at once, in mebibytes. */
  readonly workerMebibytes: number;
  readonly apiMebibytes: number;
}

const readEveryMs = 50;

/** How the service is while something is done to it: how fast it answers others, and how much memory it takes. */
export async function watchVitals<Result>(
  { requester, workers, apis }: Installation,
  work: () => Promise<Result>,
): Promise<{ result: Result; vitals: Vitals }> {
  const durations: number[] = [];
  let isOver = false;
  const reading = (async () => {
    for (; !isOver; await sleep(readEveryMs)) {
      const startedAt = performance.now();
      const answer = await requester.try('GET', '/runs?limit=10');
      if (answer?.status === 200) durations.push(performance.now() - startedAt);
    }
  })();
  let result: Result;
  try {
    result = await work();
  } finally {
    isOver = true;
  }
  await reading;
  const most = (processes: readonly { pid: number }[]) => Math.max(...processes.map(({ pid }) => readPeak(pid)));
  const sorted = durations.sort((a, b) => a - b);
  const vitals = {
    p99Ms: Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN),
    reads: sorted.length,
    workerMebibytes: most(workers),
    apiMebibytes: most(apis),
  };
  return { result, vitals };
}

/** The high-water mark since the process started; 0 where the system does not tell. */
function readPeak(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const kibibytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kibibytes) / 1024);
}
