import { markCursor } from '#api/pipeline/answers/list-cursors.ts';
import type { Benchmark } from '../benchmark.ts';
import { insertFindings } from '../data/finding-rows.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { compareSizes, type Requests } from '../load/sizes.ts';
import { command, createTenant, publish } from '../load/tenant.ts';

const few = 10_000;
const many = 1_000_000;

export const findings: Benchmark = {
  name: 'findings',
  about:
    `Pages of 50 drift findings over HTTP, one request at a time, in an installation of ${many.toLocaleString('en')} findings, compared with one of ` +
    `${few.toLocaleString('en')}; the figures are medians. All belong to one team, and each monitor has 100. The rows are inserted by SQL, and then ` +
    '`VACUUM ANALYZE` runs.',
  run: async (testbed) => {
    const small = await openFilled(testbed, 'findings_few', few);
    const large = await openFilled(testbed, 'findings_many', many);
    try {
      return await compareSizes(testbed, kinds, {
        large: { name: `${many.toLocaleString('en')} findings`, filled: large },
        small: { name: `${few.toLocaleString('en')} findings`, filled: small },
      });
    } finally {
      await small.installation.close();
      await large.installation.close();
    }
  },
};

interface Filled {
  readonly installation: Installation;
  readonly teamId: string;
  readonly monitorId: string;
  readonly middleId: string;
}

async function openFilled(testbed: Testbed, name: string, count: number): Promise<Filled> {
  const installation = await testbed.open(name);
  const { teamId, environmentId } = await createTenant(installation.http);
  const templateId = await publish(installation.http, teamId, 'nothing', command('true'));
  const run = await installation.http.call('POST', '/runs', { template_id: templateId, environment_id: environmentId });
  testbed.report(`making ${count} findings`);
  const { monitorId, middleId } = await insertFindings(installation.database, { runId: run.id, count });
  return { installation, teamId, monitorId, middleId };
}

/** The requests, by name: the path of one request in an installation. */
const kinds: Requests<Filled> = {
  'first page of a team': ({ teamId }) => `/drift-findings?team_id=${teamId}`,
  'page in the middle': ({ teamId, middleId }) =>
    `/drift-findings?team_id=${teamId}&cursor=${markCursor({ id: 'drift_findings.list' }, Buffer.from(middleId).toString('base64url'))}`,
  'first page of open findings': ({ teamId }) => `/drift-findings?team_id=${teamId}&status=open`,
  'first page of suppressed findings': ({ teamId }) => `/drift-findings?team_id=${teamId}&status=suppressed`,
  'findings of a monitor': ({ monitorId }) => `/drift-findings?monitor_id=${monitorId}`,
  'readable, first page': () => '/drift-findings',
  'readable and open, first page': () => '/drift-findings?status=open',
};
