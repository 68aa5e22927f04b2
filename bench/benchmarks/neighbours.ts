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

/** Takes 700 MiB again and again, which is below the limit: the attempt goes on. */
const hoarding = 'while :; do head -c 700M /dev/zero | tail >/dev/null; done';

export const neighbours: Benchmark = {
  name: 'neighbours',
  about:
    `${runsOneByOne} runs of a command template (\`true\`), one after another, each measured from its admission until a client that ` +
    'polls every 10 ms reads `succeeded`. The arm `greedy` runs beside an attempt on the same worker that uses everything it may (300 ' +
    'processes that compute, 700 MiB that it writes repeatedly), `hoarding` beside an attempt that takes and frees 700 MiB of memory all the time, and `alone` beside none. The ' +
    'first column says how the worker enforces limits: `cgroup`, or `process` where it has no control groups, as for a user to whom none are delegated.',
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
  const others = { greedy, hoarding };
  const { workers } = await http.call('GET', '/workers');
  const run = async () => void (await waitForStatus(http, await admitRun(http, modest), 'succeeded'));
  const arms: Record<string, () => Promise<Sample>> = { alone: () => oneByOne(run) };
  for (const [name, script] of Object.entries(others)) {
    const template = await publish(http, teamId, name, command('sh', '-c', script));
    const request = { template_id: template, environment_id: environmentId };
    arms[name] = () => besideAnother(installation, request, () => oneByOne(run));
  }
  const figures = await interleave(testbed, arms);
  return Object.keys(others).flatMap((arm) =>
    (['median', 'p99'] as const).map((figure) => ({
      what: `beside a ${arm} attempt, ${figure} (limits: ${workers[0]?.limits})`,
      unit: 'ms',
      target: figure === 'p99' ? { atMost: 1.5 } : null,
      service: figures(arm, figure),
      other: figures('alone', figure),
    })),
  );
}

async function oneByOne(run: () => Promise<void>): Promise<Sample> {
  const { latencies } = await runLoad(runsOneByOne, 1, run);
  return { median: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

async function besideAnother({ http }: Installation, request: object, job: () => Promise<Sample>): Promise<Sample> {
  const id = await admitRun(http, request);
  await waitForStatus(http, id, 'running');
  await sleep(settleMs);
  const sample = await job();
  await http.call('POST', `/runs/${id}/cancel`, { reason: 'the round is over' });
  await waitForStatus(http, id, 'canceled');
  return sample;
}
