import { markCursor } from '#api/pipeline/answers/list-cursors.ts';
import type { Benchmark } from '../benchmark.ts';
import { insertRuns, rareRequester } from '../data/run-rows.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { compareSizes, type Requests } from '../load/sizes.ts';
import { command, createTenant, publish } from '../load/tenant.ts';

const few = 10_000;
const many = 1_000_000;
const pageSize = 50;
const runsOfPeriod = 2_000;

export const reads: Benchmark = {
  name: 'reads',
  about:
    `\`GET /runs/{id}\` for random runs, and pages of ${pageSize} of \`GET /runs?team_id=…\`, over HTTP, one request at a time, in an ` +
    `installation of ${many.toLocaleString('en')} runs, compared with one of ${few.toLocaleString('en')}; the figures are medians. All runs belong to one ` +
    'team, which makes its pages as deep as possible. The rows are inserted by SQL (`generate_series`) as copies of a run that ' +
    'was admitted over HTTP, with ids and times spread over a year and with every status, and then `VACUUM ANALYZE` runs.',
  run: async (testbed) => {
    const small = await openFilled(testbed, 'reads_few', few);
    const large = await openFilled(testbed, 'reads_many', many);
    try {
      return await compareSizes(testbed, kinds, {
        large: { name: `${many.toLocaleString('en')} runs`, filled: large },
        small: { name: `${few.toLocaleString('en')} runs`, filled: small },
      });
    } finally {
      await small.installation.close();
      await large.installation.close();
    }
  },
};

interface Filled {
  readonly installation: Installation;
  readonly organizationId: string;
  readonly teamId: string;
  readonly instanceId: string;
  /** An evenly spaced sample of the runs' ids, oldest first. */
  readonly ids: readonly string[];
  readonly runs: number;
}

async function openFilled(testbed: Testbed, name: string, count: number): Promise<Filled> {
  const installation = await testbed.open(name);
  const { organizationId, teamId, environmentId } = await createTenant(installation.http);
  const templateId = await publish(installation.http, teamId, 'nothing', command('true'));
  const run = await installation.http.call('POST', '/runs', { template_id: templateId, environment_id: environmentId });
  testbed.report(`making ${count} runs`);
  const ids = await insertRuns(installation.database, run.id, count);
  return { installation, organizationId, teamId, instanceId: run.instance_id, ids, runs: count };
}

/** The requests, by name: the path of one request in an installation. */
const kinds: Requests<Filled> = {
  'one run': ({ ids }) => `/runs/${ids[Math.floor(Math.random() * ids.length)]}`,
  'first page of a team': (filled) => page(filled, 1),
  'page in the middle': (filled) => page(filled, 0.5),
  'last page': (filled) => page(filled, 0),
  'first page of failed runs': ({ teamId }) => `/runs?team_id=${teamId}&limit=${pageSize}&status=failed`,
  'the one run that timed out': ({ teamId }) => `/runs?team_id=${teamId}&limit=${pageSize}&status=timed_out`,
  'first page of runs under way': ({ teamId }) => `/runs?team_id=${teamId}&limit=${pageSize}&status=running`,
  'first page of an instance': ({ instanceId }) => `/runs?instance_id=${instanceId}&limit=${pageSize}`,
  'failed or under way': ({ teamId }) => `/runs?team_id=${teamId}&limit=${pageSize}&status=failed&status=running`,
  'the one that destroys': ({ teamId }) => `/runs?team_id=${teamId}&limit=${pageSize}&operation=destroy`,
  'the one run of a person': ({ teamId }) => `/runs?team_id=${teamId}&limit=${pageSize}&requested_by=${rareRequester}`,
  'a period in the middle': (filled) => `/runs?team_id=${filled.teamId}&limit=${pageSize}&${periodOf(filled)}`,
  'statistics of a period': (filled) => `/runs/statistics?team_id=${filled.teamId}&${periodOf(filled)}`,
  'first page of an organization': (filled) => `/runs?organization_id=${filled.organizationId}&limit=${pageSize}`,
  'readable, first page': () => `/runs?scope=readable&limit=${pageSize}`,
  'readable, that timed out': () => `/runs?scope=readable&limit=${pageSize}&status=timed_out`,
  'readable, that destroys': () => `/runs?scope=readable&limit=${pageSize}&operation=destroy`,
};

/** The path of a page: 1 is the newest end, 0 the oldest. It varies a little, so that no page is always in the cache. */
function page({ teamId, ids }: Filled, position: number): string {
  const path = `/runs?team_id=${teamId}&limit=${pageSize}`;
  if (position === 1) return path;
  const index = Math.floor(position * ids.length * 0.98 + 1 + Math.random() * ids.length * 0.02);
  return `${path}&cursor=${markCursor({ id: 'runs.list' }, Buffer.from(ids[index] ?? '').toString('base64url'))}`;
}

/** A period in the middle that holds as many runs in a small installation as in a large one. */
function periodOf({ ids, runs }: Filled): string {
  const from = timeOf(ids[Math.floor(ids.length / 2)] ?? '');
  const yearMs = 365 * 24 * 60 * 60_000;
  return `from=${new Date(from).toISOString()}&to=${new Date(from + (yearMs / runs) * runsOfPeriod).toISOString()}`;
}

/** The time in a UUIDv7. */
function timeOf(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}
