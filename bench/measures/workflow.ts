import { randomUUID } from 'node:crypto';
import { command, makeWorkplace, publish } from '../catalog.ts';
import type { Bench } from '../installation.ts';
import type { Lab } from '../lab.ts';
import { drive } from '../load.ts';
import { type Comparison, interleave, type Measure } from '../measure.ts';
import { finishAll } from '../runs.ts';
import type { Sample } from '../statistics.ts';
import { type BareWorker, startBareWorker } from '../workflow/bare-worker.ts';

const runs = 60;
const slots = 4;
const startsAtOnce = 16;

export const workflow: Measure = {
  name: 'workflow',
  about:
    `${runs} runs of a command template (\`true\`), admitted at once and counted when all have ended, beside as many bare ` +
    `workflows of two activities, plan and apply, on the same engine with the same slots (${slots}). "Bare, executor" runs ` +
    "the same two phases in the service's own executor, each in a sandbox of its own, with nothing kept: the " +
    'difference is what the run itself costs (locks, order, fencing, state, logs, audit). "Bare, `true`" spawns `true` in ' +
    'each activity: beside it the isolation of template code counts too.',
  run: async (lab) => {
    const bench = await lab.open('workflow', { settings: { WORKER_CONCURRENCY: String(slots) } });
    try {
      await bench.startWorker();
      return await measure(lab, bench);
    } finally {
      await bench.close();
    }
  },
};

async function measure(lab: Lab, bench: Bench): Promise<Comparison[]> {
  const { teamId, environmentId } = await makeWorkplace(bench.http);
  const templateId = await publish(bench.http, teamId, 'nothing', command('true'));
  const request = { template_id: templateId, environment_id: environmentId };
  const bare = await startBareWorker(bench.config, lab.directory, slots);
  const [service, executor, nothing] = ['service', 'bare, executor', 'bare, `true`'];
  try {
    const figures = await interleave(lab, {
      [service]: () => finishRuns(bench, request),
      [executor]: () => finishBare(bench, bare, 'executor'),
      [nothing]: () => finishBare(bench, bare, 'true'),
    });
    const compare = (other: string, target: Comparison['target']): Comparison => ({
      ...{ what: `finished runs beside ${other}`, unit: '/s', target },
      ...{ service: figures(service, 'finished_per_second'), other: figures(other, 'finished_per_second') },
    });
    return [compare(executor, { atLeast: 0.5 }), compare(nothing, null)];
  } finally {
    await bare.close();
  }
}

async function finishRuns(bench: Bench, request: object): Promise<Sample> {
  return { finished_per_second: runs / (await finishAll(bench, runs, request)) };
}

async function finishBare({ temporal }: Bench, { taskQueue }: BareWorker, kind: string): Promise<Sample> {
  const startedAt = performance.now();
  const ended: Promise<unknown>[] = [];
  await drive(runs, startsAtOnce, async () => {
    const handle = await temporal.workflow.start('bare', { workflowId: randomUUID(), taskQueue, args: [kind] });
    ended.push(handle.result());
  });
  await Promise.all(ended);
  return { finished_per_second: runs / ((performance.now() - startedAt) / 1000) };
}
