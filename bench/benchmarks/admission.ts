import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { runWorkflow } from '#domain/runs/model.ts';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { latencyFigures, runLoad } from '../load/load.ts';
import { command, createTenant, publish, type Tenant } from '../load/tenant.ts';
import type { Sample } from '../report/statistics.ts';

const concurrency = 32;
const burst = 1_000;
const sustained = 2_000;
const limitedRuns = 500;

export const admission: Benchmark = {
  name: 'admission',
  about:
    `Runs admitted by \`POST /api/v1/runs\` (with an API key, into a team's environment, each for a new instance), compared with ` +
    `raw \`client.workflow.start\` calls for the same workflow type. Both arms send ${concurrency} calls at a time to the same servers, ` +
    'and no worker runs. "Started" measures until every workflow of the arm has started. "Admitted", in a burst of ' +
    `${burst}, measures until every admission has been answered. A raw call returns once its workflow has started. Last, ${limitedRuns} ` +
    'admissions of an environment, a team and an organization whose quotas limit queued runs, runs of a day, instances and bytes of logs, and ' +
    'are not reached, compared with those of another organization without quotas. What is used is counted at each admission, so the ' +
    'cost rises with what is queued, which grows from round to round.',
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
  const own = await requestOf(installation, await createTenant(installation.http));
  let started = 0;
  const admit = async (count: number, request = own): Promise<Sample> => {
    const sample = await admitAll(installation, count, request);
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
  const limited = await measureQuotas(testbed, installation, admit);
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
    ...limited,
  ];
}

/** A request for a run of a tenant's own template. */
async function requestOf({ http }: Installation, { teamId, environmentId }: Tenant): Promise<object> {
  const slug = `nothing-${teamId.slice(-12)}`;
  return { template_id: await publish(http, teamId, slug, command('true')), environment_id: environmentId };
}

/** More than is ever used, so that everything is counted and nothing is refused. */
const limits = { queued_runs: 1e9, runs_per_day: 1e9, instances: 1e9, log_bytes: 1e15 };

/** What quotas cost that are not reached. */
async function measureQuotas(
  testbed: Testbed,
  installation: Installation,
  admit: (count: number, request: object) => Promise<Sample>,
): Promise<Comparison[]> {
  const { http } = installation;
  const [bound, free] = [await createTenant(http, {}, 'bound'), await createTenant(http, {}, 'free')];
  for (const path of [
    `environment/${bound.environmentId}`,
    `team/${bound.teamId}`,
    `organization/${bound.organizationId}`,
  ])
    await http.call('PUT', `/admin/quotas/${path}`, { limits });
  const [ofBound, ofFree] = [await requestOf(installation, bound), await requestOf(installation, free)];
  const [withQuotas, without] = ['with quotas', 'without quotas'];
  const measured = await interleave(testbed, {
    [withQuotas]: () => admit(limitedRuns, ofBound),
    [without]: () => admit(limitedRuns, ofFree),
  });
  const compare = (what: string, unit: string, figure: string): Comparison => ({
    what,
    unit,
    target: null,
    service: measured(withQuotas, figure),
    other: measured(without, figure),
  });
  return [
    compare(`admitted with quotas, ${limitedRuns} in a row`, '/s', 'answered_per_second'),
    compare('median of one admission with quotas', 'ms', 'median_ms'),
    compare('p99 of one admission with quotas', 'ms', 'p99_ms'),
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

/** Waits until Temporal counts this many runs. Its count lags behind. Publishing a version starts a workflow of another type. */
async function assertStarted({ temporal }: Installation, expected: number): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { count } = await temporal.workflow.count(`WorkflowType = '${runWorkflow}'`);
    if (count === expected) return;
    if (Date.now() > deadline) throw new Error(`Temporal has ${count} runs instead of ${expected}`);
    await sleep(500);
  }
}
