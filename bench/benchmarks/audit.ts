import { type Benchmark, type Comparison, interleave } from '../benchmark.ts';
import { insertAuditRecords } from '../data/audit-rows.ts';
import { copyOut } from '../data/copy.ts';
import type { Installation } from '../installation/installation.ts';
import type { Testbed } from '../installation/testbed.ts';
import { compareSizes, type Requests } from '../load/sizes.ts';
import { command, createTenant, publish } from '../load/tenant.ts';
import type { Sample } from '../report/statistics.ts';
import { measurePeakMemory } from '../resources/peak-memory.ts';
import { admitAll } from './admission.ts';

const admissions = 1_000;
const few = 10_000;
const many = 1_000_000;
const requests = 100;

export const audit: Benchmark = {
  name: 'audit',
  about:
    `First, a burst of ${admissions} admitted runs with their audit records, compared with the same burst while a trigger of the ` +
    'benchmark discards each audit record before it is written. No worker runs. Second, `GET /audit/export` of ' +
    `${many.toLocaleString('en')} records (NDJSON): the peak memory of the API process, compared with an export of ` +
    `${few.toLocaleString('en')} records, and the records per second, compared with \`COPY … TO STDOUT\` of the same columns. ` +
    'Third, pages of `GET /audit` in both installations, one request at a time; the figures are medians.',
  run: async (testbed) => [...(await measureAdmission(testbed)), ...(await measureReading(testbed))],
};

async function measureAdmission(testbed: Testbed): Promise<Comparison[]> {
  const installation = await testbed.open('audit_admission');
  try {
    const { teamId, environmentId } = await createTenant(installation.http);
    const templateId = await publish(installation.http, teamId, 'nothing', command('true'));
    const request = { template_id: templateId, environment_id: environmentId };
    await installation.database.query(
      `create function drop_row() returns trigger language plpgsql as 'begin return null; end'`,
    );
    await installation.database.query(
      `create trigger without_audit before insert on audit_records for each row execute function drop_row()`,
    );
    const admit = async (isAudited: boolean): Promise<Sample> => {
      const state = isAudited ? 'disable' : 'enable';
      await installation.database.query(`alter table audit_records ${state} trigger without_audit`);
      return admitAll(installation, admissions, request);
    };
    const [service, other] = ['with audit rows', 'without'];
    const figures = await interleave(testbed, { [service]: () => admit(true), [other]: () => admit(false) });
    return [
      {
        what: `admitted, a burst of ${admissions}`,
        unit: '/s',
        target: { atLeast: 0.9 },
        service: figures(service, 'answered_per_second'),
        other: figures(other, 'answered_per_second'),
      },
    ];
  } finally {
    await installation.close();
  }
}

async function measureReading(testbed: Testbed): Promise<Comparison[]> {
  const small = await openFilled(testbed, 'audit_few', few);
  const large = await openFilled(testbed, 'audit_many', many);
  try {
    return [...(await measureExport(testbed, small, large)), ...(await measurePages(testbed, small, large))];
  } finally {
    await small.close();
    await large.close();
  }
}

async function openFilled(testbed: Testbed, name: string, count: number): Promise<Installation> {
  const installation = await testbed.open(name);
  testbed.report(`making ${count} audit records`);
  await insertAuditRecords(installation.database, count);
  return installation;
}

const columns = `id, at, action, outcome, actor_type, actor_id, actor_name, credential_type, credential_id, resource_type,
  resource_id, organization_id, team_id, request_id, address, before, after`;

async function measureExport(testbed: Testbed, small: Installation, large: Installation): Promise<Comparison[]> {
  const stream = async ({ http, apiPid }: Installation): Promise<Sample> => {
    const startedAt = performance.now();
    let lines = 0;
    const mebibytes = await measurePeakMemory(apiPid, async () => {
      lines = await http.countLines('/audit/export', 'x-audit-records');
    });
    return { mebibytes, records_per_second: (lines / (performance.now() - startedAt)) * 1000 };
  };
  const copy = async (): Promise<Sample> => {
    const startedAt = performance.now();
    await copyOut(large.database, `select ${columns} from audit_records order by at, id`);
    return { records_per_second: (many / (performance.now() - startedAt)) * 1000 };
  };
  const [service, other, raw] = [`${many.toLocaleString('en')}`, `${few.toLocaleString('en')}`, 'COPY'];
  const arms = { [service]: () => stream(large), [other]: () => stream(small), [raw]: copy };
  const figures = await interleave(testbed, arms);
  return [
    {
      what: 'memory of the API while it exports',
      unit: 'MiB',
      target: { atMost: 1.5 },
      service: figures(service, 'mebibytes'),
      other: figures(other, 'mebibytes'),
    },
    {
      what: `${many.toLocaleString('en')} records exported`,
      unit: '/s',
      target: null,
      service: figures(service, 'records_per_second'),
      other: figures(raw, 'records_per_second'),
    },
  ];
}

/** The searches, by name. `team.created` is rare, and the actor who creates most runs has none. */
const kinds: Requests<{ readonly installation: Installation }> = {
  'first page': () => '/audit?limit=50',
  'page in the middle': () => `/audit?limit=50&to=${monthsAgo(6)}`,
  'page at the end': () => `/audit?limit=50&to=${monthsAgo(11)}`,
  'refusals of one actor': () => '/audit?limit=50&outcome=refused&actor=6bce05df-9831-da77-99a5-edc4f7abfbec',
  'a rare action': () => '/audit?limit=50&action=team.created',
  'a rare action in a month': () => `/audit?limit=50&action=team.created&from=${monthsAgo(6)}&to=${monthsAgo(5)}`,
  'an action of a resource type': () => '/audit?limit=50&action=run.reviewed&resource_type=runs',
};

function monthsAgo(months: number): string {
  return new Date(Date.now() - months * 30 * 24 * 60 * 60 * 1000).toISOString();
}

function measurePages(testbed: Testbed, small: Installation, large: Installation): Promise<Comparison[]> {
  const sizes = {
    large: { name: `${many.toLocaleString('en')} records`, filled: { installation: large } },
    small: { name: `${few.toLocaleString('en')} records`, filled: { installation: small } },
  };
  return compareSizes(testbed, kinds, sizes, requests);
}
