import { setTimeout as sleep } from 'node:timers/promises';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { runLoad } from '../load/load.ts';
import { admit, waitForStatus } from '../load/runs.ts';
import { command, createTenant, publish } from '../load/tenant.ts';
import { percentile, type Sample } from '../report/statistics.ts';

const runsOneByOne = 40;
/** Until the greedy attempt has started all of its processes and filled its disk. */
const settleMs = 3_000;
/** 300 of 512 processes compute without end, 700 of 1024 MiB are written again and again. */
const greedy = [
  'dd if=/dev/zero of=/work/big bs=1M count=700 2>/dev/null',
  'for i in $(seq 300); do (while :; do :; done) & done',
  'while :; do dd if=/dev/zero of=/work/big bs=1M count=700 conv=notrunc 2>/dev/null; done',
].join('; ');

export const neighbours: Benchmark = {
  name: 'neighbours',
  about:
    `${runsOneByOne} runs of a command template (\`true\`), one after the other, from admission until a client that asks every ` +
    '10 ms reads `succeeded`: beside an attempt on the same worker that takes all it may have (300 processes that compute, ' +
    '700 MiB that it writes over and over), and alone.',
  run: async (testbed) => {
    const installation = await testbed.open('neighbours', { settings: { WORKER_CONCURRENCY: '4' } });
    try {
      await installation.startWorker();
      return await measure(testbed, installation);
    } finally {
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, installation: Installation): Promise<Comparison[]> {
  const { http } = installation;
  const { teamId, environmentId } = await createTenant(http);
  const modest = { template_id: await publish(http, teamId, 'modest', command('true')), environment_id: environmentId };
  const other = await publish(http, teamId, 'greedy', command('sh', '-c', greedy));
  const request = { template_id: other, environment_id: environmentId };
  const run = async () => void (await waitForStatus(http, await admit(http, modest), 'succeeded'));
  const [beside, alone] = ['beside a greedy attempt', 'alone'];
  const figures = await interleave(testbed, {
    [beside]: () => besideGreedy(installation, request, () => oneByOne(run)),
    [alone]: () => oneByOne(run),
  });
  return (['median', 'p99'] as const).map((figure) => ({
    what: `one run, ${figure}`,
    unit: 'ms',
    target: figure === 'p99' ? { atMost: 1.5 } : null,
    service: figures(beside, figure),
    other: figures(alone, figure),
  }));
}

async function oneByOne(run: () => Promise<void>): Promise<Sample> {
  const { latencies } = await runLoad(runsOneByOne, 1, run);
  return { median: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

async function besideGreedy({ http }: Installation, request: object, job: () => Promise<Sample>): Promise<Sample> {
  const id = await admit(http, request);
  await waitForStatus(http, id, 'running');
  await sleep(settleMs);
  const sample = await job();
  await http.call('POST', `/runs/${id}/cancel`, { reason: 'the round is over' });
  await waitForStatus(http, id, 'canceled');
  return sample;
}
