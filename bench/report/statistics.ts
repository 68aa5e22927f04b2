/** The figures of one round of one arm, by name. */
export type Sample = Readonly<Record<string, number>>;

/** The value at or below which this share of the values lies. `share` is between 0 and 1. */
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

/** The values of one figure over all rounds. @throws Error where a sample lacks it */
export function valuesOf(samples: readonly Sample[], figure: string): number[] {
  return samples.map((sample) => {
    const value = sample[figure];
    if (value === undefined) throw new Error(`an arm has not measured "${figure}"`);
    return value;
  });
}
