import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';
import { type Installation, seedInstallation } from '#test/support/pages/realistic-installation.ts';

let api: TestApi;
let installation: Installation;
let admin: Visitor;

beforeAll(async () => {
  api = await startApi();
  installation = await seedInstallation(api);
  admin = await signIn(installation.people.admin.email);
});
afterAll(() => api?.close());

async function signIn(email: string): Promise<Visitor> {
  const visitor = new Visitor(api.app);
  expect((await visitor.submit('/login', { email, password: testPassword })).status).toBe(303);
  return visitor;
}

describe('the pages of workers', () => {
  it('show pools with waiting runs, workers with their state, and drain one', async () => {
    const page = await admin.get('/workloads/workers');
    for (const text of ['Draining', 'Gone', 'payments-restricted', 'Slots in use']) expect(page.text).toContain(text);
    const id = /href="\/workloads\/workers\/([0-9a-f-]{36})"/.exec(page.text)?.[1];
    const worker = await admin.get(`/workloads/workers/${id}`);
    expect(worker.text).toContain('Last heartbeat');
    const question = await admin.get(`/workloads/workers/${id}/drain`);
    const key = /name="key" value="([^"]+)"/.exec(question.text)?.[1] ?? '';
    expect((await admin.submit(`/workloads/workers/${id}/drain`, { key })).location).toBe(
      '/workloads/workers?done=draining',
    );
  });

  it('have pages of pools, and keep the page of the workers', async () => {
    await api.rows(
      `insert into worker_pools (name, created_at) select 'many-' || n, now() from generate_series(1, 60) n`,
    );
    const first = await admin.get('/workloads/workers');
    const next = /href="([^"]*pool_cursor=[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await admin.get(next);
    const poolLink = /href="\/workloads\/pools\/((?!new")[^"/]+)"/g;
    const poolsOf = (text: string) => [...text.matchAll(poolLink)].flatMap(([, name]) => name ?? []);
    const [some, others] = [poolsOf(first.text), poolsOf(second.text)];
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter((name) => some.includes(name))).toEqual([]);
    await api.rows(`delete from worker_pools where name like 'many-%'`);
  });

  it('change the rules of a pool, and refuse a stale form', async () => {
    const rules = {
      name: '',
      team_ids: 'none',
      environment_ids: '',
      isolation: 'sandbox',
      'egress.policy': 'none',
      'egress.allow': '',
    };
    expect((await admin.submit('/workloads/pools/new', { ...rules, name: 'batch' })).status).toBe(303);
    const form = await admin.get('/workloads/pools/batch');
    expect(form.text).toContain('\nnone</textarea>');
    const { name: _, ...present } = rules;
    const changed = { ...present, team_ids: '', expected_revision: '1' };
    expect((await admin.submit('/workloads/pools/batch', changed)).location).toBe('/workloads/workers?done=pool-saved');
    expect((await admin.submit('/workloads/pools/batch', { ...changed, team_ids: 'none' })).status).toBe(409);
    expect((await admin.submit('/workloads/pools/batch/delete', {})).location).toBe(
      '/workloads/workers?done=pool-deleted',
    );
  });

  it('pause all applies and end the pause, only for administrators', async () => {
    expect((await admin.submit('/workloads/apply-pause', { reason: 'Maintenance', until: '' })).location).toBe(
      '/workloads/apply-pause',
    );
    expect((await admin.get('/workloads/apply-pause')).text).toContain('All applies are paused');
    expect((await admin.submit('/workloads/apply-pause/end', {})).location).toBe('/workloads/workers');
    const owner = await signIn(installation.people.owner.email);
    expect((await owner.get('/workloads/apply-pause')).status).toBe(403);
    expect(await owner.page('/workloads/workers')).not.toContain('Pause all applies');
  });
});
