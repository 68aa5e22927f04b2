import { StartError } from '#local/errors.ts';
import type { Benchmark, Comparison, Figure } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { findTofu } from '../installation/tofu.ts';
import { runLoad } from '../load/load.ts';
import { admitRun, waitForStatus } from '../load/runs.ts';
import { command, createTenant, publish } from '../load/tenant.ts';
import { listTree, readMemory } from '../resources/processes.ts';
import {
  type Cpu,
  findServer,
  hostOf,
  type Part,
  parts,
  postgres,
  readCpu,
  temporal,
} from '../resources/service-cpu.ts';

const runsOneByOne = 20;
const configuration = `
resource "terraform_data" "network" { input = "10.0.0.0/16" }
output "cidr" { value = terraform_data.network.output }
`;

const targets: Partial<Record<Part, number>> = { worker: 40, 'executor host': 15 };

export const cost: Benchmark = {
  name: 'cost',
  about:
    `The processor time that each process spends on one run. Each round executes ${runsOneByOne} runs one after another, of a command ` +
    'template whose only step is `true`, and of an OpenTofu template whose version has run before. Then the memory (PSS) of ' +
    'each process after those runs.',
  run: async (testbed) => {
    if (findTofu() === null) throw new StartError('Neither OpenTofu nor Terraform was found: put `tofu` on PATH.');
    const installation = await testbed.open('cost', { settings: { WORKER_CONCURRENCY: '4' } });
    try {
      await installation.startWorker();
      return await measure(testbed, installation);
    } finally {
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, installation: Installation): Promise<Comparison[]> {
  const { teamId, environmentId } = await createTenant(installation.http);
  const specs = {
    'command `true`': command('true'),
    OpenTofu: { outputs: { cidr: {} }, executor: { kind: 'opentofu', files: { 'main.tf': configuration } } },
  };
  const rows: Comparison[] = [];
  for (const [index, [kind, spec]] of Object.entries(specs).entries()) {
    const template_id = await publish(installation.http, teamId, `cost-${index}`, spec);
    const request = { template_id, environment_id: environmentId };
    rows.push(...toRows(kind, await measureRuns(testbed, installation, request)));
  }
  return [...rows, ...memoryRows(installation)];
}

async function measureRuns(testbed: Testbed, installation: Installation, request: object): Promise<Cpu[]> {
  const run = async () =>
    void (await waitForStatus(installation.http, await admitRun(installation.http, request), 'succeeded'));
  const rounds: Cpu[] = [];
  for (let round = 0; round <= testbed.rounds; round++) {
    const before = readCpu(installation);
    await runLoad(runsOneByOne, 1, run);
    const after = readCpu(installation);
    const each = Object.fromEntries(parts.map((part) => [part, (after[part] - before[part]) / runsOneByOne])) as Cpu;
    testbed.report(
      `${round === 0 ? 'warm-up' : `round ${round}`}: ${parts.map((part) => `${part} ${each[part].toFixed(1)}`).join(', ')}`,
    );
    if (round > 0) rounds.push(each);
  }
  return rounds;
}

function toRows(kind: string, rounds: readonly Cpu[]): Comparison[] {
  return parts.map((part) => {
    const service: Figure = { arm: part, values: rounds.map((round) => round[part]) };
    const most = targets[part];
    const target = most === undefined ? null : { below: most };
    return { what: `CPU of a run (${kind}): ${part}`, unit: 'ms', service, other: null, target };
  });
}

function memoryRows({ apiPid, workerPid }: Installation): Comparison[] {
  const pids = {
    API: [apiPid],
    worker: [workerPid()],
    'executor host': [hostOf(workerPid())],
    PostgreSQL: listTree(findServer(postgres)),
    'Temporal server': listTree(findServer(temporal)),
  };
  return Object.entries(pids).map(([part, own]) => ({
    what: `memory after the runs: ${part}`,
    unit: 'MiB',
    other: null,
    target: null,
    service: { arm: part, values: [readMemory(own)] },
  }));
}
