import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from './installation.ts';

export interface ServiceMetrics {
  /** The 99th percentile of the reads' response times in milliseconds. */
  readonly p99Ms: number;
  readonly reads: number;
  /** The peak memory of any worker, and of any API, in mebibytes. */
  readonly workerMebibytes: number;
  readonly apiMebibytes: number;
}

const readEveryMs = 50;

/** Measures the response times and the memory of the service while the work runs. */
export async function measureService<Result>(
  { requester, workers, apis }: Installation,
  work: () => Promise<Result>,
): Promise<{ result: Result; metrics: ServiceMetrics }> {
  const durations: number[] = [];
  let isOver = false;
  const reading = (async () => {
    for (; !isOver; await sleep(readEveryMs)) {
      const startedAt = performance.now();
      const answer = await requester.send('GET', '/runs?limit=10');
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
  const max = (processes: readonly { pid: number }[]) => Math.max(...processes.map(({ pid }) => readPeak(pid)));
  const sorted = durations.sort((a, b) => a - b);
  const metrics = {
    p99Ms: Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN),
    reads: sorted.length,
    workerMebibytes: max(workers),
    apiMebibytes: max(apis),
  };
  return { result, metrics };
}

/** The peak memory of a process since it started; 0 on systems other than Linux. */
function readPeak(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const kibibytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kibibytes) / 1024);
}
