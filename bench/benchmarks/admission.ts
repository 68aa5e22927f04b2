import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { runWorkflow } from '#domain/runs/model.ts';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { latencyFigures, runLoad } from '../load/load.ts';
import { command, createTenant, publish } from '../load/tenant.ts';
import type { Sample } from '../report/statistics.ts';

const concurrency = 32;
const burst = 1_000;
const sustained = 2_000;

export const admission: Benchmark = {
  name: 'admission',
  about:
    `Runs admitted by \`POST /api/v1/runs\` (with an API key, into a team's environment, each for a new instance), compared with ` +
    `raw \`client.workflow.start\` calls for the same workflow type. Both arms send ${concurrency} calls at a time to the same servers, ` +
    'and no worker runs. "Started" measures until every workflow of the arm has started. "Admitted", in a burst of ' +
    `${burst}, measures until every admission has been answered. A raw call returns once its workflow has started.`,
  run: async (testbed) => {
    const installation = await testbed.open('admission');
    try {
      return await measure(testbed, installation);
    } finally {
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, installation: Installation): Promise<Comparison[]> {
  const { teamId, environmentId } = await createTenant(installation.http);
  const templateId = await publish(installation.http, teamId, 'nothing', command('true'));
  let started = 0;
  const admit = async (count: number): Promise<Sample> => {
    const sample = await admitAll(installation, count, { template_id: templateId, environment_id: environmentId });
    started += count;
    return sample;
  };
  const start = async (count: number): Promise<Sample> => {
    const sample = await startAll(installation, count);
    started += count;
    return sample;
  };
  const service = 'service';
  const raw = 'raw start';
  const long = await interleave(testbed, { [service]: () => admit(sustained), [raw]: () => start(sustained) });
  const short = await interleave(testbed, { [service]: () => admit(burst), [raw]: () => start(burst) });
  await assertStarted(installation, started);
  const compare = (what: string, unit: string, figure: string, from: typeof long, target: Comparison['target']) => ({
    what,
    unit,
    target,
    service: from(service, figure),
    other: from(raw, figure),
  });
  return [
    compare(`admitted and started, ${sustained} in a row`, '/s', 'started_per_second', long, { atLeast: 1 }),
    compare('p99 of one call', 'ms', 'p99_ms', long, { atMost: 1 }),
    compare('median of one call', 'ms', 'median_ms', long, null),
    compare(`admitted, a burst of ${burst}`, '/s', 'answered_per_second', short, { atLeast: 3 }),
    compare('p99 of one call in a burst', 'ms', 'p99_ms', short, { atMost: 1 }),
    compare(`admitted and started, a burst of ${burst}`, '/s', 'started_per_second', short, { atLeast: 1 }),
  ];
}

export async function admitAll({ http, database }: Installation, count: number, request: object): Promise<Sample> {
  const startedAt = performance.now();
  const load = await runLoad(count, concurrency, async () => {
    const instance = `load-${randomUUID()}`;
    const answer = await http.send('POST', '/runs', { ...request, instance }, { 'idempotency-key': randomUUID() });
    if (answer.status !== 202)
      throw new Error(`an admission answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  });
  await waitUntilDelivered(database);
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    answered_per_second: count / load.seconds,
    started_per_second: count / seconds,
    ...latencyFigures(load),
  };
}

async function startAll({ temporal }: Installation, count: number): Promise<Sample> {
  const load = await runLoad(count, concurrency, async () => {
    await temporal.workflow.start(runWorkflow, {
      workflowId: randomUUID(),
      taskQueue: 'nobody',
      args: [{ run_id: randomUUID() }],
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
    });
  });
  const rate = count / load.seconds;
  return { answered_per_second: rate, started_per_second: rate, ...latencyFigures(load) };
}

/** Waits until the outbox is empty, which means that every message has been delivered to Temporal. */
async function waitUntilDelivered(database: Installation['database']): Promise<void> {
  for (;;) {
    const { rows } = await database.query('select exists (select 1 from outbox) as waiting');
    if (!rows[0].waiting) return;
    await sleep(5);
  }
}

/** Waits until Temporal counts this many workflows. Its count lags behind. */
async function assertStarted({ temporal }: Installation, expected: number): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { count } = await temporal.workflow.count();
    if (count === expected) return;
    if (Date.now() > deadline) throw new Error(`Temporal has ${count} workflows instead of ${expected}`);
    await sleep(500);
  }
}
