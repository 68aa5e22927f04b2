import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '#local/errors.ts';
import { makeWorkplace, publish } from '../catalog.ts';
import type { Bench } from '../installation.ts';
import type { Lab } from '../lab.ts';
import { drive } from '../load.ts';
import { type Comparison, interleave, type Measure } from '../measure.ts';
import { admit, awaitStatus, finishAll } from '../runs.ts';
import { median, type Sample } from '../statistics.ts';
import { findTofu } from '../tofu.ts';

const runsInTurn = 8;
const concurrency = 4;
const runsAtOnce = 24;

const configuration = `
resource "terraform_data" "network" { input = "10.0.0.0/16" }
output "cidr" { value = terraform_data.network.output }
`;

export const opentofu: Measure = {
  name: 'opentofu',
  about:
    'A run of an OpenTofu template with one `terraform_data` resource and one output, without approval, from its ' +
    'admission over HTTP until a client that asks every 10 ms reads `succeeded`, beside bare `init`, `plan -out` and ' +
    `\`apply\` of the same files in an empty directory. Then ${runsAtOnce} runs admitted at once on a worker with ` +
    `${concurrency} slots beside bare processes, ${concurrency} at a time.`,
  run: async (lab) => {
    const tool = findTofu();
    if (tool === null) throw new StartError('There is neither OpenTofu nor Terraform: put `tofu` on PATH.');
    const bench = await lab.open('opentofu', { settings: { WORKER_CONCURRENCY: String(concurrency) } });
    try {
      await bench.startWorker();
      return await measure(lab, bench, tool);
    } finally {
      await bench.close();
    }
  },
};

async function measure(lab: Lab, bench: Bench, tool: string): Promise<Comparison[]> {
  const { teamId, environmentId } = await makeWorkplace(bench.http);
  const spec = { outputs: { cidr: {} }, executor: { kind: 'opentofu', files: { 'main.tf': configuration } } };
  const templateId = await publish(bench.http, teamId, 'network', spec);
  const request = { template_id: templateId, environment_id: environmentId };
  const run = async () => void (await awaitStatus(bench.http, await admit(bench.http, request), 'succeeded'));
  const bare = () => runBare(tool, lab.directory);
  const [service, processes] = ['service', 'bare processes'];
  const alone = await interleave(lab, { [service]: () => inTurn(run), [processes]: () => inTurn(bare) });
  const many = await interleave(lab, {
    [service]: () => allAtOnce(bench, request),
    [processes]: () => bareAtOnce(bare),
  });
  return [
    {
      ...{ what: 'one run, admission to `succeeded`', unit: 's', target: { atMost: 2 } },
      ...{ service: alone(service, 'seconds'), other: alone(processes, 'seconds') },
    },
    {
      ...{ what: `finished, ${concurrency} at a time`, unit: '/s', target: { atLeast: 0.6 } },
      ...{ service: many(service, 'finished_per_second'), other: many(processes, 'finished_per_second') },
    },
  ];
}

async function inTurn(job: () => Promise<void>): Promise<Sample> {
  const { latencies } = await drive(runsInTurn, 1, job);
  return { seconds: median(latencies) / 1000 };
}

async function allAtOnce(bench: Bench, request: object): Promise<Sample> {
  return { finished_per_second: runsAtOnce / (await finishAll(bench, runsAtOnce, request)) };
}

async function bareAtOnce(bare: () => Promise<void>): Promise<Sample> {
  const { seconds } = await drive(runsAtOnce, concurrency, bare);
  return { finished_per_second: runsAtOnce / seconds };
}

async function runBare(tool: string, directory: string): Promise<void> {
  mkdirSync(join(directory, 'bare'), { recursive: true });
  const work = mkdtempSync(join(directory, 'bare', 'run-'));
  writeFileSync(join(work, 'main.tf'), configuration);
  const common = ['-input=false', '-no-color'];
  for (const command of [
    ['init', ...common],
    ['plan', ...common, '-out=plan'],
    ['apply', ...common, 'plan'],
  ]) {
    const child = spawn(tool, command, {
      cwd: work,
      env: { PATH: process.env['PATH'], HOME: work, TF_IN_AUTOMATION: '1', CHECKPOINT_DISABLE: '1' },
      stdio: 'ignore',
    });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`${command[0]} ended with ${code}`);
  }
  rmSync(work, { recursive: true, force: true });
}
