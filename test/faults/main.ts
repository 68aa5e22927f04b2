import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type ApprovalsReport, restartWithOpenApprovals } from './approvals.ts';
import { disruptGrid, removeRequester } from './assemblies.ts';
import { runLargeShapes, runManyAtOnce } from './assembly-scale.ts';
import { runCycles } from './harness/cycles.ts';
import { disruptionNames } from './harness/disruptions.ts';
import { type Installation, openInstallation } from './harness/installation.ts';
import type { ServiceMetrics } from './harness/service-metrics.ts';
import { examineHostileTemplate } from './hostile/examination.ts';
import { findLeaks } from './hostile/leaks.ts';
import { describeHostileTemplates, secret } from './hostile/templates.ts';
import { disruptScans } from './scans.ts';
import { disruptSchedules } from './schedules.ts';
import { disruptUndo } from './undo.ts';
import { disruptWebhooks } from './webhooks.ts';

/**
 * `npm run test:faults -- --seed 42 --cycles 50`: prints what it does and finds, and exits with 1 if it finds a violation.
 * `--minutes` limits the time of the cycles, `--disruption` chooses their disruptions, and `--only` runs a single part.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    cycles: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '60' },
    disruption: { type: 'string', multiple: true },
    approvals: { type: 'string', default: '1000' },
    flood: { type: 'string', default: '200' },
    grid: { type: 'string', default: '20x25' },
    nodes: { type: 'string', default: '500' },
    'assembly-runs': { type: 'string', default: '100' },
    instances: { type: 'string', default: '20' },
    schedules: { type: 'string', default: '20' },
    endpoints: { type: 'string', default: '50' },
    events: { type: 'string', default: '2000' },
    rate: { type: 'string', default: '50' },
    only: { type: 'string', multiple: true },
  },
});

const parts: Record<string, () => Promise<readonly string[]>> = {
  cycles: disruptInCycles,
  approvals: () => withInstallation((installation) => restartWithApprovals(installation, Number(values.approvals))),
  assemblies: () => withInstallation((installation) => disruptAssemblies(installation, values.grid)),
  'assembly-scale': () => withInstallation((installation) => runManyAssemblies(installation, Number(values.nodes))),
  scans: () => withInstallation((installation) => scanWhileDisrupted(installation, Number(values.instances))),
  schedules: () => withInstallation((installation) => startWhileDisrupted(installation, Number(values.schedules))),
  undo: () => withInstallation(disruptOneUndo),
  webhooks: () => withInstallation(sendWhileDisrupted, { COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' }),
  hostile: () => withInstallation((installation) => runHostileTemplates(installation, Number(values.flood))),
};

const chosen = values.only ?? Object.keys(parts);
let violations = 0;
for (const [name, run] of Object.entries(parts)) {
  if (!chosen.includes(name)) continue;
  console.log(`── ${name}`);
  const found = await run();
  for (const violation of found) console.log(`VIOLATION ${violation}`);
  violations += found.length;
}
console.log(violations === 0 ? 'No violations were found.' : `${violations} violations were found.`);
process.exit(violations === 0 ? 0 : 1);

function chooseSeed(): number {
  const seed = Number(values.seed ?? randomInt(2 ** 31));
  console.log(`seed ${seed}`);
  return seed;
}

async function disruptInCycles(): Promise<readonly string[]> {
  const seed = chooseSeed();
  const named = (values.disruption ?? []).map((name) => {
    const found = disruptionNames.find((each) => each === name);
    if (found === undefined)
      throw new Error(`There is no disruption "${name}". Choose one of: ${disruptionNames.join(', ')}.`);
    return found;
  });
  const { violations: found, ...report } = await runCycles({
    seed,
    cycles: Number(values.cycles),
    timeLimitMs: Number(values.minutes) * 60_000,
    ...(named.length > 0 && { disruptions: named.map((name) => [name]) }),
    report: (line) => console.log(line),
  });
  console.log(JSON.stringify({ seed, ...report }, null, 2));
  return found;
}

async function restartWithApprovals(installation: Installation, count: number): Promise<readonly string[]> {
  const report: ApprovalsReport = await restartWithOpenApprovals(installation, count);
  console.log(JSON.stringify(report));
  return installation.violations;
}

async function disruptAssemblies(installation: Installation, grid: string): Promise<readonly string[]> {
  const [rows = 20, columns = 25] = grid.split('x').map(Number);
  console.log(JSON.stringify(await disruptGrid(installation, { rows, columns })));
  await removeRequester(installation);
  return installation.violations;
}

async function scanWhileDisrupted(installation: Installation, instances: number): Promise<readonly string[]> {
  console.log(JSON.stringify(await disruptScans(installation, { instances })));
  return installation.violations;
}

async function startWhileDisrupted(installation: Installation, schedules: number): Promise<readonly string[]> {
  console.log(JSON.stringify(await disruptSchedules(installation, { schedules })));
  return installation.violations;
}

async function runManyAssemblies(installation: Installation, nodes: number): Promise<readonly string[]> {
  console.log(JSON.stringify(await runManyAtOnce(installation, Number(values['assembly-runs']))));
  for (const report of await runLargeShapes(installation, nodes)) console.log(JSON.stringify(report));
  return installation.violations;
}

async function disruptOneUndo(installation: Installation): Promise<readonly string[]> {
  console.log(JSON.stringify(await disruptUndo(installation)));
  return installation.violations;
}

async function sendWhileDisrupted(installation: Installation): Promise<readonly string[]> {
  const [endpoints, events, rate] = [Number(values.endpoints), Number(values.events), Number(values.rate)];
  console.log(JSON.stringify(await disruptWebhooks(installation, { endpoints, events, rate, seed: chooseSeed() })));
  return installation.violations;
}

async function runHostileTemplates(installation: Installation, flood: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, template] of Object.entries(describeHostileTemplates(installation, flood))) {
    const { violations: wrong, metrics } = await examineHostileTemplate(installation, name, template);
    console.log(`${name}: ${formatMetrics(metrics)}`);
    found.push(...wrong);
  }
  const leaks = await findLeaks(installation, secret);
  console.log(`places that contain the secret: ${leaks.length}`);
  return [...found, ...leaks.map((place) => `the secret is in ${place}`)];
}

function formatMetrics({ p99Ms, reads, workerMebibytes, apiMebibytes }: ServiceMetrics): string {
  return `p99 of ${reads} reads ${p99Ms} ms, at most ${workerMebibytes} MiB per worker and ${apiMebibytes} MiB per API`;
}

async function withInstallation(
  work: (installation: Installation) => Promise<readonly string[]>,
  settings: Readonly<Record<string, string>> = {},
) {
  const installation = await openInstallation({ settings });
  let found: readonly string[] | undefined;
  try {
    found = await work(installation);
    return found;
  } finally {
    const keepFiles = found === undefined || found.length > 0;
    await installation.close(keepFiles);
    if (keepFiles) console.log(`the logs are in ${installation.directory}`);
  }
}
