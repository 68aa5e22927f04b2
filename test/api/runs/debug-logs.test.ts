import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeOldDebugLogs } from '#domain/runs/debug-logs/debug-logs.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';
import { network } from '#test/support/templates.ts';

let api: TestApi;
let root: ApiUser;
let tenant: Tenant;
let steps: RunSteps;
let worker: string;
let template: string;
const tool = { name: 'opentofu', version: '1.12.6' };
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
  tenant = await makeTenant(api);
  steps = new RunSteps(api, root);
  worker = await steps.worker('sandbox', 'default', [tool]);
  template = await steps.publish(network);
});
afterAll(() => api?.close());

const options = { log_level: 'debug' };
const text = 'GET / HTTP/1.1\nAuthorization: unknown-to-the-service\n';

async function logged(): Promise<string> {
  const request = { template_id: template, environment_id: tenant.environment, operation: 'plan', options };
  const { body, text: answer } = await tenant.owner.post('/runs', request);
  expect(body.options?.log_level, answer).toBe('debug');
  const planning = executing(await steps.next({ runId: body.id }));
  await steps.claim(planning, worker, 'sandbox', [tool]);
  await steps.complete(planning, { outcome: 'planned', tool, plan: aPlan(), debugLog: Buffer.from(text) });
  await steps.next({ runId: body.id, executed: planning });
  return body.id;
}

describe('the debug log of a run', () => {
  it('is read by those who may create runs, and by nobody who may only read them', async () => {
    const run = await logged();
    const { body } = await tenant.owner.get(`/runs/${run}/debug-logs`);
    expect(body.debug_logs).toMatchObject([{ phase: 'planning', level: 'debug', bytes: text.length }]);
    const whole = await tenant.owner.get(`/runs/${run}/debug-logs`, { accept: 'text/plain' });
    expect(whole.text).toBe(text);
    const viewer = await api.addUser('requester');
    await join(tenant, viewer, 'member', 'viewer');
    expect((await viewer.get(`/runs/${run}`)).status).toBe(200);
    expect((await viewer.get(`/runs/${run}/debug-logs`)).status).toBe(403);
    const stranger = await api.addUser('requester');
    expect((await stranger.get(`/runs/${run}/debug-logs`)).status).toBe(404);
    const logs = await tenant.owner.get(`/runs/${run}/logs`, { accept: 'text/plain' });
    expect(logs.text).not.toContain('Authorization');
  });

  it('is listed a page at a time', async () => {
    const run = await logged();
    await api.rows(
      `insert into run_debug_logs (attempt_id, run_id, phase, level, bytes, content, created_at)
       select '00000000-0000-7000-8000-000000000001', run_id, phase, level, bytes, content, created_at from run_debug_logs where run_id = ?`,
      [run],
    );
    const first = await tenant.owner.get(`/runs/${run}/debug-logs?limit=1`);
    const second = await tenant.owner.get(`/runs/${run}/debug-logs?limit=1&cursor=${first.body.next_cursor}`);
    expect([first, second].map(({ body }) => body.debug_logs.length)).toEqual([1, 1]);
    expect([first.body.next_cursor, second.body.next_cursor]).toEqual([expect.any(String), null]);
  });

  it('is encrypted in the database, and deleted with its run or after a month', async () => {
    const [first, second] = [await logged(), await logged()];
    const rows = await api.rows<{ content: Buffer }>('select content from run_debug_logs where run_id = ?', [first]);
    expect(rows[0]?.content.toString('latin1')).not.toContain('Authorization');
    expect((await root.delete(`/runs/${first}`)).status).toBe(204);
    expect(await api.rows('select 1 from run_debug_logs where run_id = ?', [first])).toEqual([]);
    await api.rows(`update run_debug_logs set created_at = now() - interval '31 days' where run_id = ?`, [second]);
    expect((await tenant.owner.get(`/runs/${second}/debug-logs`)).body).toEqual({ debug_logs: [], next_cursor: null });
    const third = await logged();
    await removeOldDebugLogs(api.services.orm.em.fork());
    expect((await tenant.owner.get(`/runs/${third}/debug-logs`)).body.debug_logs).toHaveLength(1);
    expect(await api.rows('select 1 from run_debug_logs where run_id = ?', [second])).toEqual([]);
  });

  it('is refused in production, unless the environment allows it', async () => {
    const { id } = await tenant.owner.make('/environments', {
      project_id: tenant.project,
      name: 'Live',
      kind: 'production',
    });
    const ask = () =>
      tenant.owner.post('/runs', { template_id: template, environment_id: id, instance: 'live', options });
    const refused = await ask();
    expect([refused.status, refused.headers['x-error-code']], refused.text).toEqual([422, 'option_forbidden']);
    expect((await tenant.owner.patch(`/environments/${id}`, { allowed_options: ['log_level'] })).status).toBe(200);
    expect((await ask()).status).toBe(202);
  });
});
