import type { Testbed } from './installation/testbed.ts';
import { type Sample, valuesOf } from './report/statistics.ts';

/** A figure of one arm, a value a round. */
export interface Figure {
  readonly arm: string;
  readonly values: readonly number[];
}

/** Of the ratio; `below`: of the service's own figure. */
export type Target = { readonly atLeast: number } | { readonly atMost: number } | { readonly below: number };

/** One figure of the service beside the same figure of what it is compared with, as a ratio (service / other). */
export interface Comparison {
  readonly what: string;
  readonly unit: string;
  readonly service: Figure;
  /** Null: there is nothing to compare with; the figure stands alone. */
  readonly other: Figure | null;
  readonly target: Target | null;
}

/** Something that `npm run bench -- <name>` measures. */
export interface Benchmark {
  readonly name: string;
  /** What is compared with what, and why that is fair; printed above the figures. */
  readonly about: string;
  run(testbed: Testbed): Promise<Comparison[]>;
}

export type Arms = Readonly<Record<string, () => Promise<Sample>>>;

/**
 * Runs every arm once a round, in turns (forward, backward, forward …), so that whatever else the machine does meets all of
 * them alike. The first round warms up and is thrown away.
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
