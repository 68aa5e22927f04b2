import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

const many = 6_000;
const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };

let api: TestApi;
let busy: Tenant;
let quiet: Tenant;
let member: ApiUser;
let rareTemplate: string;

beforeAll(async () => {
  api = await startApi();
  [busy, quiet] = [await makeTenant(api), await makeTenant(api)];
  member = await api.addUser('requester');
  await join(quiet, member, 'member', 'viewer');
  const { id } = await addRun(busy);
  ({ template: rareTemplate } = await addRun(quiet));
  await addCopies(id);
});
afterAll(() => api?.close());

async function addRun(tenant: Tenant): Promise<{ id: string; template: string }> {
  const { id: template } = await tenant.owner.make('/registry/templates', { name: 'Ours', team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
  const { body } = await tenant.owner.post('/runs', { template_id: template, environment_id: tenant.environment });
  return { id: body.id, template };
}

/** Most of them succeeded, and all of them are younger than the other team's runs. */
async function addCopies(runId: string): Promise<void> {
  const columns = await api.rows<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = 'runs'`,
  );
  const own: Record<string, string> = {
    id: `('ff000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid`,
    idempotency_key: 'gen_random_uuid()',
    instance_position: 'n + 10',
    status: `case when n % 50 = 0 then 'failed' else 'succeeded' end`,
    phase: `'finished'`,
    finished_at: 'now()',
    waiting_on: 'null',
  };
  const names = columns.map(({ name }) => `"${name}"`);
  const values = columns.map(({ name }) => own[name] ?? `r."${name}"`);
  await api.rows(
    `insert into runs (${names.join(', ')}) select ${values.join(', ')} from runs r, generate_series(1, ?::int) n where r.id = ?`,
    [many, runId],
  );
  await api.rows('analyze runs');
}

/** How many entries of the indexes of runs a request reads. PostgreSQL counts them some time after the request. */
async function countRead(request: () => Promise<{ status: number }>): Promise<number> {
  const before = await readCounts();
  expect((await request()).status).toBe(200);
  const after = await vi.waitFor(
    async () => {
      const counts = await readCounts();
      expect(counts.scans).toBeGreaterThan(before.scans);
      return counts;
    },
    { timeout: 20_000, interval: 100 },
  );
  return after.entries - before.entries;
}

async function readCounts(): Promise<{ scans: number; entries: number }> {
  const [counts] = await api.rows<{ scans: number; entries: number }>(
    `select sum(idx_scan)::int as scans, sum(idx_tup_read)::int as entries from pg_stat_user_indexes where relname = 'runs'`,
  );
  return counts ?? { scans: 0, entries: 0 };
}

describe('while another team has thousands of younger runs', () => {
  it.each(['', '&status=succeeded', '&status=queued&status=failed'])(
    'a list of the few runs of a team reads only these (%s)',
    async (filter) => {
      expect(await countRead(() => member.get(`/runs?team_id=${quiet.team}${filter}`))).toBeLessThan(many / 10);
      expect(await countRead(() => member.get(`/runs?scope=readable${filter}`))).toBeLessThan(many / 10);
    },
  );

  it('a list of templates reads only the few runs of one that is used rarely', async () => {
    expect(await countRead(() => member.get('/registry/templates'))).toBeLessThan(many / 10);
    expect(await countRead(() => member.get(`/registry/templates/${rareTemplate}`))).toBeLessThan(many / 10);
  });
});
