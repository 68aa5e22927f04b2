import { parseArgs } from 'node:util';
import { type ApprovalsReport, surviveRestart } from './approvals.ts';
import { blowNames } from './harness/blows.ts';
import { runCycles } from './harness/cycles.ts';
import { examineNasty } from './harness/examination.ts';
import { type Installation, openInstallation } from './harness/installation.ts';
import { findLeaks } from './harness/leaks.ts';
import type { Vitals } from './harness/vitals.ts';
import { describeNasties, secret } from './nasty.ts';

/**
 * `npm run test:faults -- --seed 42 --cycles 50`: prints what it does and found, and ends with 1 where something did not hold.
 * `--minutes` bounds the cycles, `--blow` names what they are made of, `--only` leaves out the other parts.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    cycles: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '60' },
    blow: { type: 'string', multiple: true },
    approvals: { type: 'string', default: '1000' },
    flood: { type: 'string', default: '200' },
    only: { type: 'string', multiple: true },
  },
});

const parts: Record<string, () => Promise<readonly string[]>> = {
  cycles: breakInCycles,
  approvals: () => withInstallation((installation) => restartWithApprovals(installation, Number(values.approvals))),
  nasties: () => withInstallation((installation) => sufferNasties(installation, Number(values.flood))),
};

const chosen = values.only ?? Object.keys(parts);
let faults = 0;
for (const [name, run] of Object.entries(parts)) {
  if (!chosen.includes(name)) continue;
  console.log(`── ${name}`);
  const found = await run();
  for (const fault of found) console.log(`FAULT ${fault}`);
  faults += found.length;
}
console.log(faults === 0 ? 'Everything held.' : `${faults} faults were found.`);
process.exit(faults === 0 ? 0 : 1);

async function breakInCycles(): Promise<readonly string[]> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  const named = (values.blow ?? []).map((name) => {
    const found = blowNames.find((each) => each === name);
    if (found === undefined) throw new Error(`There is no blow "${name}"; there are: ${blowNames.join(', ')}.`);
    return found;
  });
  const { faults: found, ...report } = await runCycles({
    seed,
    cycles: Number(values.cycles),
    atMostMs: Number(values.minutes) * 60_000,
    ...(named.length > 0 && { blows: named.map((name) => [name]) }),
    report: (line) => console.log(line),
  });
  console.log(JSON.stringify({ seed, ...report }, null, 2));
  return found;
}

async function restartWithApprovals(installation: Installation, count: number): Promise<readonly string[]> {
  const report: ApprovalsReport = await surviveRestart(installation, count);
  console.log(JSON.stringify(report));
  return installation.faults;
}

async function sufferNasties(installation: Installation, flood: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, nasty] of Object.entries(describeNasties(installation, flood))) {
    const { faults: wrong, vitals } = await examineNasty(installation, name, nasty);
    console.log(`${name}: ${describeVitals(vitals)}`);
    found.push(...wrong);
  }
  const leaks = await findLeaks(installation, secret);
  console.log(`places that have the secret: ${leaks.length}`);
  return [...found, ...leaks.map((place) => `the secret is in ${place}`)];
}

function describeVitals({ p99Ms, reads, workerMebibytes, apiMebibytes }: Vitals): string {
  return `p99 of ${reads} reads ${p99Ms} ms, at most ${workerMebibytes} MiB a worker and ${apiMebibytes} MiB an API`;
}

async function withInstallation(work: (installation: Installation) => Promise<readonly string[]>) {
  const installation = await openInstallation();
  let found: readonly string[] | undefined;
  try {
    found = await work(installation);
    return found;
  } finally {
    const isKept = found === undefined || found.length > 0;
    await installation.close(isKept);
    if (isKept) console.log(`logs are kept in ${installation.directory}`);
  }
}
