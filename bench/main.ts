import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { StartError } from '#local/errors.ts';
import type { Benchmark } from './benchmark.ts';
import { admission } from './benchmarks/admission.ts';
import { approval } from './benchmarks/approval.ts';
import { assemblies } from './benchmarks/assemblies.ts';
import { audit } from './benchmarks/audit.ts';
import { authorization } from './benchmarks/authorization.ts';
import { cost } from './benchmarks/cost.ts';
import { evaluation } from './benchmarks/evaluation.ts';
import { findings } from './benchmarks/findings.ts';
import { logs } from './benchmarks/logs.ts';
import { monitors } from './benchmarks/monitors.ts';
import { neighbours } from './benchmarks/neighbours.ts';
import { opentofu } from './benchmarks/opentofu.ts';
import { providers } from './benchmarks/providers.ts';
import { reads } from './benchmarks/reads.ts';
import { retention } from './benchmarks/retention.ts';
import { scans } from './benchmarks/scans.ts';
import { start } from './benchmarks/start.ts';
import { workflow } from './benchmarks/workflow.ts';
import { openTestbed, type Testbed } from './installation/testbed.ts';
import { findTofu } from './installation/tofu.ts';
import { saveSection } from './report/document.ts';
import { describeMachine, versionOf } from './report/machine.ts';
import { toText } from './report/table.ts';
import { timeline } from './timeline/timeline.ts';
import { ui } from './ui/ui.ts';

const benchmarks: readonly Benchmark[] = [
  admission,
  opentofu,
  timeline,
  providers,
  workflow,
  reads,
  logs,
  approval,
  authorization,
  audit,
  cost,
  start,
  neighbours,
  evaluation,
  assemblies,
  scans,
  monitors,
  findings,
  retention,
  ui,
];

const help = `Usage: npm run bench -- [benchmark …] [--rounds <n>] [--save] [--profile <directory>]

  benchmark  ${benchmarks.map(({ name }) => name).join(', ')}; all of them by default
  --rounds   how often to measure each arm (5)
  --save     writes the tables to docs/benchmarks.md as well
  --profile  writes CPU profiles of the service's processes to this directory, which slows the service down

BENCH_STATEMENTS=<file> has \`timeline\` write the statements of one run to this file, in their order and with their whole text.
BENCH_MONITORS=300 lets \`monitors\` try fewer than 10,000 monitors. Each of its rounds takes two minutes.`;

async function main(given: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: given,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      save: { type: 'boolean' },
      profile: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  const unknown = positionals.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name));
  if (values.help || unknown.length > 0) {
    if (unknown.length > 0) console.error(`Unknown benchmark: ${unknown.join(', ')}`);
    console.log(help);
    return unknown.length > 0 ? 2 : 0;
  }
  const chosen = positionals.length === 0 ? benchmarks : benchmarks.filter(({ name }) => positionals.includes(name));
  const profiles = values.profile === undefined ? null : resolve(values.profile);
  if (profiles !== null) mkdirSync(profiles, { recursive: true });
  const testbed = await openTestbed({ rounds: Number(values.rounds), profiles });
  let isDone = false;
  try {
    for (const benchmark of chosen) await runBenchmark(testbed, benchmark, values.save ?? false);
    isDone = true;
  } finally {
    await testbed.close(!isDone);
  }
  return 0;
}

async function runBenchmark(testbed: Testbed, benchmark: Benchmark, isSaved: boolean): Promise<void> {
  console.log(`\n── ${benchmark.name}\n${benchmark.about}`);
  const measured = await benchmark.run(testbed);
  const figures = toText(Array.isArray(measured) ? { comparisons: measured, tables: [] } : measured);
  console.log(`\n${figures}`);
  if (!isSaved) return;
  const tofu = findTofu();
  const machine = describeMachine(testbed.databaseVersion, tofu === null ? 'no OpenTofu' : versionOf(tofu));
  saveSection(benchmark, figures, machine);
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof StartError ? error.message : error);
  return 1;
});
// Connections and servers that a failed benchmark left open must not keep the process alive.
process.exit();
