import { percentile } from '../report/statistics.ts';

export interface LoadResult {
  readonly seconds: number;
  /** The duration of each job in milliseconds. */
  readonly latencies: readonly number[];
}

/** Runs a job `count` times, `concurrency` at a time. Rejects with the first failure. */
export async function runLoad(
  count: number,
  concurrency: number,
  job: (index: number) => Promise<void>,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let next = 0;
  const startedAt = performance.now();
  const work = async () => {
    for (let index = next++; index < count; index = next++) {
      const jobStartedAt = performance.now();
      await job(index);
      latencies.push(performance.now() - jobStartedAt);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, work));
  return { seconds: (performance.now() - startedAt) / 1000, latencies };
}

export function latencyFigures({ latencies }: LoadResult): { median_ms: number; p99_ms: number } {
  return { median_ms: percentile(latencies, 0.5), p99_ms: percentile(latencies, 0.99) };
}
