import { setTimeout as sleep } from 'node:timers/promises';
import type { Comparison, Figure, Target } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { SpanFile } from '../installation/spans.ts';
import type { Testbed } from '../installation/testbed.ts';
import type { TimedRun } from './timed-runs.ts';

/** What the parts of the benchmark measure with. */
export interface Setting {
  readonly testbed: Testbed;
  readonly installation: Installation;
  /** The path of the tool for the bare calls. */
  readonly tool: string;
  readonly spans: SpanFile;
  /** Executes one run of the template, whose version has run before. */
  readonly run: () => Promise<TimedRun>;
}

/** The only file of the template. */
export const configuration = `
resource "terraform_data" "network" { input = "10.0.0.0/16" }
output "cidr" { value = terraform_data.network.output }
`;

export const pauseMs = 500;

/** What a run leaves to do after its end, such as the removal of its sandboxes, must not count for the next one. */
export async function pause(): Promise<void> {
  await sleep(pauseMs);
}

interface Compared {
  readonly target?: Target;
  readonly other?: Figure;
}

/** A figure of the service, with one value for each run. */
export function row(
  what: string,
  unit: string,
  values: readonly number[],
  { target, other }: Compared = {},
): Comparison {
  return { what, unit, target: target ?? null, other: other ?? null, service: { arm: 'service', values } };
}
