import { StartError } from '#local/errors.ts';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { findTofu } from '../installation/tofu.ts';
import { runBareTool } from '../load/bare-tool.ts';
import { runLoad } from '../load/load.ts';
import { admitRun, runAllToEnd, waitForStatus } from '../load/runs.ts';
import { createTenant, publish } from '../load/tenant.ts';
import { median, type Sample } from '../report/statistics.ts';

const runsOneByOne = 8;
const concurrency = 4;
const runsAtOnce = 24;

const configuration = `
resource "terraform_data" "network" { input = "10.0.0.0/16" }
output "cidr" { value = terraform_data.network.output }
`;

export const opentofu: Benchmark = {
  name: 'opentofu',
  about:
    'A run of an OpenTofu template with one `terraform_data` resource and one output, without approval. It is measured from its ' +
    'admission over HTTP until a client that polls every 10 ms reads `succeeded`, and compared with bare `init`, `plan -out` and ' +
    `\`apply\` of the same files in an empty directory. Then ${runsAtOnce} runs admitted at once on a worker with ${concurrency} ` +
    `slots, compared with bare processes, ${concurrency} at a time.`,
  run: async (testbed) => {
    const tool = findTofu();
    if (tool === null) throw new StartError('Neither OpenTofu nor Terraform was found: put `tofu` on PATH.');
    const installation = await testbed.open('opentofu', { settings: { WORKER_CONCURRENCY: String(concurrency) } });
    try {
      await installation.startWorker();
      return await measure(testbed, installation, tool);
    } finally {
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, installation: Installation, tool: string): Promise<Comparison[]> {
  const { teamId, environmentId } = await createTenant(installation.http);
  const spec = { outputs: { cidr: {} }, executor: { kind: 'opentofu', files: { 'main.tf': configuration } } };
  const templateId = await publish(installation.http, teamId, 'network', spec);
  const request = { template_id: templateId, environment_id: environmentId };
  const run = async () =>
    void (await waitForStatus(installation.http, await admitRun(installation.http, request), 'succeeded'));
  const { directory } = testbed;
  const bare = async () => void (await runBareTool(tool, { directory, configuration }, ['init', 'plan', 'apply']));
  const [service, processes] = ['service', 'bare processes'];
  const alone = await interleave(testbed, { [service]: () => oneByOne(run), [processes]: () => oneByOne(bare) });
  const many = await interleave(testbed, {
    [service]: () => allAtOnce(installation, request),
    [processes]: () => bareAtOnce(bare),
  });
  return [
    {
      what: 'one run, admission to `succeeded`',
      unit: 's',
      target: { atMost: 2 },
      service: alone(service, 'seconds'),
      other: alone(processes, 'seconds'),
    },
    {
      what: `finished, ${concurrency} at a time`,
      unit: '/s',
      target: { atLeast: 0.6 },
      service: many(service, 'finished_per_second'),
      other: many(processes, 'finished_per_second'),
    },
  ];
}

async function oneByOne(job: () => Promise<void>): Promise<Sample> {
  const { latencies } = await runLoad(runsOneByOne, 1, job);
  return { seconds: median(latencies) / 1000 };
}

async function allAtOnce(installation: Installation, request: object): Promise<Sample> {
  return { finished_per_second: runsAtOnce / (await runAllToEnd(installation, runsAtOnce, request)) };
}

async function bareAtOnce(bare: () => Promise<void>): Promise<Sample> {
  const { seconds } = await runLoad(runsAtOnce, concurrency, bare);
  return { finished_per_second: runsAtOnce / seconds };
}
