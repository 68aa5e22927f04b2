import { percentile } from './statistics.ts';

/** How many of these moments (in seconds) are in each window. */
export function countByWindow(
  moments: readonly number[],
  { windows, seconds }: { readonly windows: number; readonly seconds: number },
): number[] {
  const counts = new Array<number>(windows).fill(0);
  for (const moment of moments) {
    const window = Math.floor(moment / seconds);
    counts[window] = (counts[window] ?? 0) + 1;
  }
  return counts;
}

/** How evenly counts are spread over windows. */
export function spreadFigures(counts: readonly number[]) {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const variance = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / counts.length;
  return { mean, 'standard deviation': Math.sqrt(variance), p95: percentile(counts, 0.95), most: Math.max(...counts) };
}

const tries = 500;

/** The same figures if as many things happened at random times, which no schedule prefers: the mean of many tries. */
export function spreadOfChance(counts: readonly number[]): ReturnType<typeof spreadFigures> {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const sum = { mean: 0, 'standard deviation': 0, p95: 0, most: 0 };
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const moments = Array.from({ length: total }, () => Math.random() * counts.length);
    const figures = spreadFigures(countByWindow(moments, { windows: counts.length, seconds: 1 }));
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += figures[name] / tries;
  }
  return sum;
}
