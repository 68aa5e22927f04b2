import { fillAudit } from '../audit-rows.ts';
import { command, makeWorkplace, publish } from '../catalog.ts';
import { copyOut } from '../copy.ts';
import type { Bench } from '../installation.ts';
import type { Lab } from '../lab.ts';
import { drive } from '../load.ts';
import { type Comparison, interleave, type Measure } from '../measure.ts';
import { peakMemory } from '../memory.ts';
import { percentile, type Sample } from '../statistics.ts';
import { admitAll } from './admission.ts';

const admissions = 1_000;
const few = 10_000;
const many = 1_000_000;
const requests = 100;

export const audit: Measure = {
  name: 'audit',
  about:
    `A burst of ${admissions} runs admitted with their audit rows beside the same with a trigger that drops each row before ` +
    'it is written (in the table of the bench alone), no worker running. Then all of ' +
    `${many.toLocaleString('en')} audit records as \`GET /audit/export\` streams them (NDJSON): the most memory that the API's ` +
    `process has meanwhile beside that at ${few.toLocaleString('en')} records, and records a second beside ` +
    '`COPY … TO STDOUT` of the same columns. Then pages of `GET /audit` in both installations, one at a time; medians.',
  run: async (lab) => [...(await measureAdmission(lab)), ...(await measureReading(lab))],
};

async function measureAdmission(lab: Lab): Promise<Comparison[]> {
  const bench = await lab.open('audit_admission');
  try {
    const { teamId, environmentId } = await makeWorkplace(bench.http);
    const templateId = await publish(bench.http, teamId, 'nothing', command('true'));
    const request = { template_id: templateId, environment_id: environmentId };
    await bench.database.query(
      `create function drop_row() returns trigger language plpgsql as 'begin return null; end'`,
    );
    await bench.database.query(
      `create trigger without_audit before insert on audit_records for each row execute function drop_row()`,
    );
    const admit = async (isAudited: boolean): Promise<Sample> => {
      const state = isAudited ? 'disable' : 'enable';
      await bench.database.query(`alter table audit_records ${state} trigger without_audit`);
      return admitAll(bench, admissions, request);
    };
    const [service, other] = ['with audit rows', 'without'];
    const figures = await interleave(lab, { [service]: () => admit(true), [other]: () => admit(false) });
    return [
      {
        ...{ what: `admitted, a burst of ${admissions}`, unit: '/s', target: { atLeast: 0.9 } },
        service: figures(service, 'answered_per_second'),
        other: figures(other, 'answered_per_second'),
      },
    ];
  } finally {
    await bench.close();
  }
}

async function measureReading(lab: Lab): Promise<Comparison[]> {
  const small = await openFilled(lab, 'audit_few', few);
  const large = await openFilled(lab, 'audit_many', many);
  try {
    return [...(await measureExport(lab, small, large)), ...(await measurePages(lab, small, large))];
  } finally {
    await small.close();
    await large.close();
  }
}

async function openFilled(lab: Lab, name: string, count: number): Promise<Bench> {
  const bench = await lab.open(name);
  lab.report(`making ${count} audit records`);
  await fillAudit(bench.database, count);
  return bench;
}

const columns = `id, at, action, outcome, actor_type, actor_id, actor_name, credential_type, credential_id, resource_type,
  resource_id, organization_id, team_id, request_id, address, before, after`;

async function measureExport(lab: Lab, small: Bench, large: Bench): Promise<Comparison[]> {
  const stream = async ({ http, apiPid }: Bench): Promise<Sample> => {
    const startedAt = performance.now();
    let lines = 0;
    const mebibytes = await peakMemory(apiPid, async () => {
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
  const figures = await interleave(lab, arms);
  return [
    {
      ...{ what: 'memory of the API while it exports', unit: 'MiB', target: { atMost: 1.5 } },
      ...{ service: figures(service, 'mebibytes'), other: figures(other, 'mebibytes') },
    },
    {
      ...{ what: `${many.toLocaleString('en')} records exported`, unit: '/s', target: null },
      ...{ service: figures(service, 'records_per_second'), other: figures(raw, 'records_per_second') },
    },
  ];
}

/** What is looked for, by name. `team.created` is rare, and nobody's who makes runs. */
const kinds: Readonly<Record<string, string>> = {
  'first page': '',
  'page in the middle': `&to=${monthsAgo(6)}`,
  'page at the end': `&to=${monthsAgo(11)}`,
  'refusals of one actor': '&outcome=refused&actor=6bce05df-9831-da77-99a5-edc4f7abfbec',
  'a rare action': '&action=team.created',
  'a rare action in a month': `&action=team.created&from=${monthsAgo(6)}&to=${monthsAgo(5)}`,
  'an action of a resource type': '&action=run.reviewed&resource_type=runs',
};

function monthsAgo(months: number): string {
  return new Date(Date.now() - months * 30 * 24 * 60 * 60 * 1000).toISOString();
}

async function measurePages(lab: Lab, small: Bench, large: Bench): Promise<Comparison[]> {
  const readAll = async ({ http }: Bench): Promise<Sample> => {
    const sample: Record<string, number> = {};
    for (const [kind, query] of Object.entries(kinds)) {
      const load = await drive(requests, 1, async () => void (await http.call('GET', `/audit?limit=50${query}`)));
      sample[kind] = percentile(load.latencies, 0.5);
    }
    return sample;
  };
  const [service, other] = [`${many.toLocaleString('en')} records`, `${few.toLocaleString('en')} records`];
  const figures = await interleave(lab, { [service]: () => readAll(large), [other]: () => readAll(small) });
  return Object.keys(kinds).map((kind) => ({
    ...{ what: kind, unit: 'ms', target: { atMost: 1.5 } },
    ...{ service: figures(service, kind), other: figures(other, kind) },
  }));
}
