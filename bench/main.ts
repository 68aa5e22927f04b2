import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { StartError } from '#local/errors.ts';
import { saveSection } from './document.ts';
import { type Lab, openLab } from './lab.ts';
import { describeMachine, versionOf } from './machine.ts';
import type { Measure } from './measure.ts';
import { admission } from './measures/admission.ts';
import { approval } from './measures/approval.ts';
import { audit } from './measures/audit.ts';
import { authorization } from './measures/authorization.ts';
import { cost } from './measures/cost.ts';
import { logs } from './measures/logs.ts';
import { neighbours } from './measures/neighbours.ts';
import { opentofu } from './measures/opentofu.ts';
import { reads } from './measures/reads.ts';
import { workflow } from './measures/workflow.ts';
import { toTable } from './report.ts';
import { findTofu } from './tofu.ts';

const measures: readonly Measure[] = [
  ...[admission, opentofu, workflow, reads, logs],
  ...[approval, authorization, audit, cost, neighbours],
];

const help = `Usage: npm run bench -- [measure …] [--rounds <n>] [--save] [--profile <directory>]

  measures  ${measures.map(({ name }) => name).join(', ')}; all of them where none is named
  --rounds  how often each arm is measured (5)
  --save    also writes the tables into docs/benchmarks.md
  --profile CPU profiles of the service's processes go there (the figures are then slower than without)`;

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
  const unknown = positionals.filter((name) => !measures.some((measure) => measure.name === name));
  if (values.help || unknown.length > 0) {
    if (unknown.length > 0) console.error(`Unknown measure: ${unknown.join(', ')}`);
    console.log(help);
    return unknown.length > 0 ? 2 : 0;
  }
  const chosen = positionals.length === 0 ? measures : measures.filter(({ name }) => positionals.includes(name));
  const profiles = values.profile === undefined ? null : resolve(values.profile);
  if (profiles !== null) mkdirSync(profiles, { recursive: true });
  const lab = await openLab({ rounds: Number(values.rounds), profiles });
  let isDone = false;
  try {
    for (const measure of chosen) await take(lab, measure, values.save ?? false);
    isDone = true;
  } finally {
    await lab.close(!isDone);
  }
  return 0;
}

async function take(lab: Lab, measure: Measure, isSaved: boolean): Promise<void> {
  console.log(`\n── ${measure.name}\n${measure.about}`);
  const comparisons = await measure.run(lab);
  const table = toTable(comparisons);
  console.log(`\n${table}`);
  if (!isSaved) return;
  const tofu = findTofu();
  const machine = describeMachine(lab.databaseVersion, tofu === null ? 'no OpenTofu' : versionOf(tofu));
  saveSection(measure, table, machine);
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error instanceof StartError ? error.message : error);
  return 1;
});
// What a measure that failed left open must not keep the process.
process.exit();
