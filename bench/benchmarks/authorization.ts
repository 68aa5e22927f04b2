import { startWithoutAuthorization } from '../baselines/without-authorization/process.ts';
import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { HttpClient } from '../load/http-client.ts';
import { latencyFigures, runLoad } from '../load/load.ts';
import { command, createTenant, publish } from '../load/tenant.ts';
import type { Sample } from '../report/statistics.ts';

const reads = 1_000;
const reviews = 2_000;
const atOnce = 16;

export const authorization: Benchmark = {
  name: 'authorization',
  about:
    '`GET /runs/{id}` with an API key, compared with the same route, handler and edge in a process that neither authenticates ' +
    'nor authorizes its callers, one request at a time. Then `POST /auth/can-i` for that run, compared with a route that reads ' +
    `one row by its key, both ${atOnce} at a time over HTTP, with connection pools of the same size on the same database. Each ` +
    'review reads the caller and the owner of the run from the database. (OpenFGA publishes 4,985/s for the similar check on ' +
    'PostgreSQL, with 16 callers, a p99 of 8 ms and 2 cores.)',
  run: async (testbed) => {
    const installation = await testbed.open('can_i');
    const withoutAuthorization = await startWithoutAuthorization(installation.environment);
    const plain = new HttpClient(withoutAuthorization.url, {});
    try {
      return await measure(testbed, installation, plain);
    } finally {
      await plain.close();
      await withoutAuthorization.close();
      await installation.close();
    }
  },
};

async function measure(testbed: Testbed, { http }: Installation, plain: HttpClient): Promise<Comparison[]> {
  const { teamId, environmentId } = await createTenant(http);
  const templateId = await publish(http, teamId, 'nothing', command('true'));
  const { id } = await http.call('POST', '/runs', { template_id: templateId, environment_id: environmentId });
  const [service, without, row] = ['service', 'without authorization', 'one row'];
  const read = await interleave(testbed, {
    [service]: () => call(reads, 1, () => http.call('GET', `/runs/${id}`)),
    [without]: () => call(reads, 1, () => plain.call('GET', `/runs/${id}`)),
  });
  const question = {
    resource_attributes: {
      group: 'delivery.coordinator',
      version: 'v1',
      resource: 'runs',
      verb: 'cancel',
      name: id,
      team_id: teamId,
    },
  };
  const reviewed = await interleave(testbed, {
    [service]: () => call(reviews, atOnce, () => review(http, question)),
    [row]: () => call(reviews, atOnce, () => plain.call('GET', `/rows/${id}`)),
  });
  const compare = (what: string, unit: string, figure: string, from: typeof read, arm: string): Comparison => ({
    what,
    unit,
    target: null,
    service: from(service, figure),
    other: from(arm, figure),
  });
  return [
    { ...compare('one run, p99', 'ms', 'p99_ms', read, without), target: { atMost: 1.5 } },
    compare('one run, median', 'ms', 'median_ms', read, without),
    compare(`can-i, ${atOnce} at a time`, '/s', 'per_second', reviewed, row),
    compare(`can-i, ${atOnce} at a time, p99`, 'ms', 'p99_ms', reviewed, row),
  ];
}

async function call(count: number, concurrency: number, request: () => Promise<unknown>): Promise<Sample> {
  const load = await runLoad(count, concurrency, async () => void (await request()));
  return { per_second: count / load.seconds, ...latencyFigures(load) };
}

async function review(http: HttpClient, question: object): Promise<void> {
  const { status } = await http.call('POST', '/auth/can-i', question);
  if (status?.allowed !== true) throw new Error(`a review answered ${JSON.stringify(status)}`);
}
