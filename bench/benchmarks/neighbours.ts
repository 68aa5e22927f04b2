import { setTimeout as sleep } from 'node:timers/promises';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { runLoad } from '../load/load.ts';
import { admitRun, waitForStatus } from '../load/runs.ts';
import { command, createTenant, publish } from '../load/tenant.ts';
import { percentile, type Sample } from '../report/statistics.ts';

const runsOneByOne = 40;
/** Time for the greedy attempt to start all of its processes and to fill its disk. */
const settleMs = 3_000;
/** Of the 512 processes allowed, 300 compute endlessly. Of the 1024 MiB allowed, 700 are written repeatedly. */
const greedy = [
  'dd if=/dev/zero of=/work/big bs=1M count=700 2>/dev/null',
  'for i in $(seq 300); do (while :; do :; done) & done',
  'while :; do dd if=/dev/zero of=/work/big bs=1M count=700 conv=notrunc 2>/dev/null; done',
].join('; ');

export const neighbours: Benchmark = {
  name: 'neighbours',
  about:
    `${runsOneByOne} runs of a command template (\`true\`), one after another, each measured from its admission until a client that ` +
    'polls every 10 ms reads `succeeded`. One arm runs beside an attempt on the same worker that uses everything it may (300 ' +
    'processes that compute, 700 MiB that it writes repeatedly). The other arm runs alone.',
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
  const run = async () => void (await waitForStatus(http, await admitRun(http, modest), 'succeeded'));
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
  const id = await admitRun(http, request);
  await waitForStatus(http, id, 'running');
  await sleep(settleMs);
  const sample = await job();
  await http.call('POST', `/runs/${id}/cancel`, { reason: 'the round is over' });
  await waitForStatus(http, id, 'canceled');
  return sample;
}
