import { randomUUID } from 'node:crypto';
import { type BareWorker, startBareWorker } from '../baselines/bare-workflow/worker-process.ts';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { runLoad } from '../load/load.ts';
import { runAllToEnd } from '../load/runs.ts';
import { command, createTenant, publish } from '../load/tenant.ts';
import type { Sample } from '../report/statistics.ts';

const runs = 60;
const slots = 4;
const startsAtOnce = 16;

export const workflow: Benchmark = {
  name: 'workflow',
  about:
    `${runs} runs of a command template (\`true\`), admitted at once and measured until all have ended, compared with as many bare ` +
    `workflows of two activities, plan and apply, on the same engine with the same number of slots (${slots}). "Bare, executor" runs ` +
    "both phases in the service's own executor, each in a sandbox of its own, and stores nothing: the difference is the cost of " +
    'the run itself (locks, order, fencing, state, logs, audit). "Bare, `true`" spawns `true` in each activity: the difference ' +
    'includes the isolation of template code.',
  run: async (testbed) => {
    const installation = await testbed.open('workflow', { settings: { WORKER_CONCURRENCY: String(slots) } });
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
  const templateId = await publish(installation.http, teamId, 'nothing', command('true'));
  const request = { template_id: templateId, environment_id: environmentId };
  const bare = await startBareWorker(installation.config, testbed.directory, slots);
  const [service, executor, nothing] = ['service', 'bare, executor', 'bare, `true`'];
  try {
    const figures = await interleave(testbed, {
      [service]: () => finishRuns(installation, request),
      [executor]: () => finishBare(installation, bare, 'executor'),
      [nothing]: () => finishBare(installation, bare, 'true'),
    });
    const compare = (other: string, target: Comparison['target']): Comparison => ({
      what: `finished runs beside ${other}`,
      unit: '/s',
      target,
      service: figures(service, 'finished_per_second'),
      other: figures(other, 'finished_per_second'),
    });
    return [compare(executor, { atLeast: 0.5 }), compare(nothing, null)];
  } finally {
    await bare.close();
  }
}

async function finishRuns(installation: Installation, request: object): Promise<Sample> {
  return { finished_per_second: runs / (await runAllToEnd(installation, runs, request)) };
}

async function finishBare({ temporal }: Installation, { taskQueue }: BareWorker, kind: string): Promise<Sample> {
  const startedAt = performance.now();
  const ended: Promise<unknown>[] = [];
  await runLoad(runs, startsAtOnce, async () => {
    const handle = await temporal.workflow.start('bare', { workflowId: randomUUID(), taskQueue, args: [kind] });
    ended.push(handle.result());
  });
  await Promise.all(ended);
  return { finished_per_second: runs / ((performance.now() - startedAt) / 1000) };
}
