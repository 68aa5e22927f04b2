import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '#local/errors.ts';
import { archiveName, packProvider } from '#test/support/programs/network-mirror.ts';
import { hasProviders } from '#test/support/programs/providers.ts';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { findTofu } from '../installation/tofu.ts';
import { runLoad } from '../load/load.ts';
import { admitRun, waitForStatus } from '../load/runs.ts';
import { createTenant, publish } from '../load/tenant.ts';
import { median, type Sample } from '../report/statistics.ts';

const runsOneByOne = 8;
const time = { name: 'time', version: '0.14.2' } as const;
const source = 'mirror.test/hashicorp/time';

const configurations = {
  without: 'resource "terraform_data" "x" { input = 1 }\n',
  with: `terraform {\n  required_providers {\n    time = { source = "${source}" }\n  }\n}\nresource "time_static" "x" {}\n`,
} as const;
type Kind = keyof typeof configurations;

export const providers: Benchmark = {
  name: 'providers',
  about:
    'A later run of a version with the real provider `time`, whose archive the first run unpacked from a directory, and the same run of one ' +
    'without a provider, each alone, without approval, from its admission over HTTP until a client that polls every 10 ms reads `succeeded`. ' +
    'What starting the provider takes is not ours: the time by which bare `plan`, `show` and `apply` in an initialized directory take ' +
    'longer with it is subtracted.',
  run: async (testbed) => {
    const tool = findTofu();
    if (tool === null) throw new StartError('Neither OpenTofu nor Terraform was found: put `tofu` on PATH.');
    if (!hasProviders()) throw new StartError('The provider was not built: install Go.');
    const mirror = makeMirror(testbed.directory);
    const settings = { COORDINATOR_PROVIDER_MIRROR: mirror };
    const installation = await testbed.open('providers', { settings });
    try {
      await installation.startWorker();
      return await measure(testbed, installation, { tool, mirror });
    } finally {
      await installation.close();
    }
  },
};

/** An operator's directory with the archive of the provider. */
function makeMirror(directory: string): string {
  const mirror = join(directory, 'mirror');
  const place = join(mirror, source);
  mkdirSync(place, { recursive: true });
  for (const path of [mirror, join(place, '../..'), join(place, '..'), place]) chmodSync(path, 0o755);
  writeFileSync(join(place, archiveName(time)), packProvider(time), { mode: 0o644 });
  return mirror;
}

interface BareTool {
  readonly tool: string;
  readonly mirror: string;
}

async function measure(testbed: Testbed, installation: Installation, bareTool: BareTool): Promise<Comparison[]> {
  const { teamId, environmentId } = await createTenant(installation.http);
  const kinds: readonly Kind[] = ['with', 'without'];
  const requests = new Map<Kind, object>();
  const directories = new Map<Kind, string>();
  for (const kind of kinds) {
    const spec = { executor: { kind: 'opentofu', files: { 'main.tf': configurations[kind] } } };
    const templateId = await publish(installation.http, teamId, `providers-${kind}`, spec);
    requests.set(kind, { template_id: templateId, environment_id: environmentId });
    directories.set(kind, await initializeBare(testbed, bareTool, kind));
  }
  const run = (kind: Kind) => async () =>
    void (await waitForStatus(
      installation.http,
      await admitRun(installation.http, requests.get(kind) ?? {}),
      'succeeded',
    ));
  const bare = (kind: Kind) => () => runBare(bareTool, directories.get(kind) ?? '');
  const arms = {
    'a run with the provider': () => oneByOne(run('with')),
    'a run without': () => oneByOne(run('without')),
    'bare with the provider': () => oneByOne(bare('with')),
    'bare without': () => oneByOne(bare('without')),
  };
  const measured = await interleave(testbed, arms);
  const figure = (arm: keyof typeof arms) => measured(arm, 'seconds');
  const [withProvider, without] = [figure('a run with the provider'), figure('a run without')];
  const [bareWith, bareWithout] = [figure('bare with the provider'), figure('bare without')];
  const ofProvider = (round: number) =>
    (bareWith.values[round] ?? Number.NaN) - (bareWithout.values[round] ?? Number.NaN);
  return [
    {
      what: 'a later run with a provider, less the work of the provider',
      unit: 's',
      target: { atMost: 1.3 },
      service: { ...withProvider, values: withProvider.values.map((value, round) => value - ofProvider(round)) },
      other: without,
    },
    { what: 'a later run with a provider', unit: 's', target: null, service: withProvider, other: without },
    {
      what: 'bare `plan`, `show` and `apply` with a provider',
      unit: 's',
      target: null,
      service: bareWith,
      other: bareWithout,
    },
  ];
}

async function oneByOne(job: () => Promise<void>): Promise<Sample> {
  const { latencies } = await runLoad(runsOneByOne, 1, job);
  return { seconds: median(latencies) / 1000 };
}

const common = ['-input=false', '-no-color'];

async function initializeBare({ directory }: Testbed, bareTool: BareTool, kind: Kind): Promise<string> {
  const work = mkdtempSync(join(directory, 'bare-'));
  writeFileSync(join(work, 'main.tf'), configurations[kind]);
  writeFileSync(
    join(work, 'cli.tfrc'),
    `provider_installation {\n  filesystem_mirror {\n    path = "${bareTool.mirror}"\n  }\n}\n`,
  );
  await runTool(bareTool, work, ['init', ...common]);
  return work;
}

async function runBare(bareTool: BareTool, work: string): Promise<void> {
  for (const command of [
    ['plan', ...common, '-out=plan'],
    ['show', '-json', '-no-color', 'plan'],
    ['apply', ...common, 'plan'],
  ])
    await runTool(bareTool, work, command);
  for (const name of ['plan', 'terraform.tfstate']) rmSync(join(work, name), { force: true });
}

async function runTool({ tool }: BareTool, work: string, command: readonly string[]): Promise<void> {
  const child = spawn(tool, command, {
    cwd: work,
    env: {
      PATH: process.env['PATH'],
      HOME: work,
      TF_CLI_CONFIG_FILE: join(work, 'cli.tfrc'),
      TF_IN_AUTOMATION: '1',
      CHECKPOINT_DISABLE: '1',
    },
    stdio: 'ignore',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}`);
}
