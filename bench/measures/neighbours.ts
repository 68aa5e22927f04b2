import { setTimeout as sleep } from 'node:timers/promises';
import { command, makeWorkplace, publish } from '../catalog.ts';
import type { Bench } from '../installation.ts';
import type { Lab } from '../lab.ts';
import { drive } from '../load.ts';
import { type Comparison, interleave, type Measure } from '../measure.ts';
import { admit, awaitStatus } from '../runs.ts';
import { percentile, type Sample } from '../statistics.ts';

const runsInTurn = 40;
/** Until the greedy attempt has started all of its processes and filled its disk. */
const settleMs = 3_000;
/** 300 of 512 processes compute without end, 700 of 1024 MiB are written again and again. */
const greedy = [
  'dd if=/dev/zero of=/work/big bs=1M count=700 2>/dev/null',
  'for i in $(seq 300); do (while :; do :; done) & done',
  'while :; do dd if=/dev/zero of=/work/big bs=1M count=700 conv=notrunc 2>/dev/null; done',
].join('; ');

export const neighbours: Measure = {
  name: 'neighbours',
  about:
    `${runsInTurn} runs of a command template (\`true\`), one after the other, from admission until a client that asks every ` +
    '10 ms reads `succeeded`: beside an attempt on the same worker that takes all it may have (300 processes that compute, ' +
    '700 MiB that it writes over and over), and alone.',
  run: async (lab) => {
    const bench = await lab.open('neighbours', { settings: { WORKER_CONCURRENCY: '4' } });
    try {
      await bench.startWorker();
      return await measure(lab, bench);
    } finally {
      await bench.close();
    }
  },
};

async function measure(lab: Lab, bench: Bench): Promise<Comparison[]> {
  const { http } = bench;
  const { teamId, environmentId } = await makeWorkplace(http);
  const modest = { template_id: await publish(http, teamId, 'modest', command('true')), environment_id: environmentId };
  const other = await publish(http, teamId, 'greedy', command('sh', '-c', greedy));
  const request = { template_id: other, environment_id: environmentId };
  const run = async () => void (await awaitStatus(http, await admit(http, modest), 'succeeded'));
  const [beside, alone] = ['beside a greedy attempt', 'alone'];
  const figures = await interleave(lab, {
    [beside]: () => besideGreedy(bench, request, () => inTurn(run)),
    [alone]: () => inTurn(run),
  });
  return (['median', 'p99'] as const).map((figure) => ({
    ...{ what: `one run, ${figure}`, unit: 'ms', target: figure === 'p99' ? { atMost: 1.5 } : null },
    ...{ service: figures(beside, figure), other: figures(alone, figure) },
  }));
}

async function inTurn(run: () => Promise<void>): Promise<Sample> {
  const { latencies } = await drive(runsInTurn, 1, run);
  return { median: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

async function besideGreedy({ http }: Bench, request: object, job: () => Promise<Sample>): Promise<Sample> {
  const id = await admit(http, request);
  await awaitStatus(http, id, 'running');
  await sleep(settleMs);
  const sample = await job();
  await http.call('POST', `/runs/${id}/cancel`, { reason: 'the round is over' });
  await awaitStatus(http, id, 'canceled');
  return sample;
}
