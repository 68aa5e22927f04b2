/** What one round of one arm came to, by the name of the figure. */
export type Sample = Readonly<Record<string, number>>;

/** The value below which that share of the values lies; `share` from 0 to 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const index = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  return sorted[index] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return Number.isInteger(middle)
    ? ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
    : (sorted[Math.floor(middle)] ?? Number.NaN);
}

export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), lowest: Math.min(...values), highest: Math.max(...values) };
}

/** One figure over all rounds. */
export function valuesOf(samples: readonly Sample[], figure: string): number[] {
  return samples.map((sample) => {
    const value = sample[figure];
    if (value === undefined) throw new Error(`an arm did not measure "${figure}"`);
    return value;
  });
}
