import type { Testbed } from './installation/testbed.ts';
import { type Sample, valuesOf } from './report/statistics.ts';

/** A figure of one arm, with one value for each round. */
export interface Figure {
  readonly arm: string;
  readonly values: readonly number[];
}

/** A bound of the ratio; `below` bounds the service's own figure. */
export type Target = { readonly atLeast: number } | { readonly atMost: number } | { readonly below: number };

/** Compares a figure of the service with the same figure of another arm; the ratio is service / other. */
export interface Comparison {
  readonly what: string;
  readonly unit: string;
  readonly service: Figure;
  /** Null: the figure is not compared with anything. */
  readonly other: Figure | null;
  readonly target: Target | null;
}

/** Figures that are compared with nothing, below the comparisons of a benchmark. */
export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** What a benchmark has measured. */
export interface Report {
  readonly comparisons: readonly Comparison[];
  readonly tables: readonly Table[];
}

/** What `npm run bench -- <name>` measures. */
export interface Benchmark {
  readonly name: string;
  /** What the benchmark compares, and why the comparison is fair; printed above the figures. */
  readonly about: string;
  run(testbed: Testbed): Promise<Comparison[] | Report>;
}

export type Arms = Readonly<Record<string, () => Promise<Sample>>>;

/**
 * Runs every arm once in each round, in an order that alternates (forward, backward, forward …), so that other load on the
 * machine affects all arms alike. The first round is a warm-up and is discarded.
 */
export async function interleave(
  { rounds, report }: Pick<Testbed, 'rounds' | 'report'>,
  arms: Arms,
): Promise<(arm: string, figure: string) => Figure> {
  const samples = new Map<string, Sample[]>(Object.keys(arms).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    const turns = Object.entries(arms);
    if (round % 2 === 1) turns.reverse();
    for (const [name, run] of turns) {
      const sample = await run();
      report(`${round === 0 ? 'warm-up' : `round ${round}/${rounds}`}, ${name}: ${describe(sample)}`);
      if (round > 0) samples.get(name)?.push(sample);
    }
  }
  return (arm, figure) => ({ arm, values: valuesOf(samples.get(arm) ?? [], figure) });
}

function describe(sample: Sample): string {
  return Object.entries(sample)
    .map(([name, value]) => `${name} ${value.toPrecision(4)}`)
    .join(', ');
}
