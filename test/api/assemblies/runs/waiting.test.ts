import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate } from '#test/support/assemblies/assemblies.ts';

// No engine runs here, so nothing takes a step.
let api: TestApi;
let tenant: Tenant;
let path: string;
let template: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  template = (await addTemplate(tenant.owner, { team: tenant.team })).id;
  path = await addAssembly(tenant, { nodes: { a: { template }, b: { template, depends_on: ['a'] } } });
  await tenant.owner.post(`${path}/publish`, { version: '1.0.0' });
});
afterAll(() => api?.close());

async function start(): Promise<string> {
  const { body, text } = await tenant.owner.post(`${path}/runs`, { environment_id: tenant.environment });
  expect(body.id, text).toBeDefined();
  return body.id;
}

const readNodes = async (run: string) => (await tenant.owner.get(`${path}/runs/${run}/nodes`)).body.nodes;

it('every node waits for the engine until the first step of its assembly run, and again after a resume', async () => {
  const run = await start();
  const engine = { code: 'engine', since: expect.any(String), nodes: null, until: null, position: null, blocker: null };
  const waiting = { status: 'pending', waiting_on: engine };
  expect(await readNodes(run)).toMatchObject([waiting, waiting]);
  await api.rows("update assembly_runs set status = 'failed', finished_at = now() where id = ?", [run]);
  await api.rows("update assembly_nodes set status = 'failed', waiting = null where assembly_run_id = ?", [run]);
  expect((await tenant.owner.post(`${path}/runs/${run}/resume`)).status).toBe(202);
  expect(await readNodes(run)).toMatchObject([waiting, waiting]);
});

it.each(['waiting', 'pending_approval'])(
  'a node that is %s although its run continues is shown as waiting for the engine',
  async (status) => {
    const run = await start();
    const instance = `gone-on-${status.replaceAll('_', '-')}`;
    const { body } = await tenant.owner.post('/runs', {
      template_id: template,
      environment_id: tenant.environment,
      instance,
    });
    await api.rows("update runs set status = 'running', waiting_on = null where id = ?", [body.id]);
    await api.rows(
      "update assembly_nodes set status = ?, waiting = null, run_id = ?, started_at = now() where assembly_run_id = ? and key = 'a'",
      [status, body.id, run],
    );
    const [node] = await readNodes(run);
    expect(node).toMatchObject({ status, waiting_on: { code: 'engine', since: node.started_at } });
  },
);

it('a request with wait answers once the assembly run or one of its nodes has changed', async () => {
  const run = await start();
  const { revision } = (await tenant.owner.get(`${path}/runs/${run}`)).body;
  const waiting = tenant.owner.get(`${path}/runs/${run}?wait=30s&revision=${revision}`);
  await api.rows('update assembly_runs set revision = revision + 1 where id = ?', [run]);
  expect((await waiting).body.revision).toBe(revision + 1);
  const at = performance.now();
  expect((await tenant.owner.get(`${path}/runs/${run}?wait=30s&revision=${revision}`)).body.revision).toBe(
    revision + 1,
  );
  expect(performance.now() - at).toBeLessThan(10_000);
  const idle = await tenant.owner.get(`${path}/runs/${run}?revision=${revision}`);
  expect([idle.status, idle.body.error]).toEqual([400, 'revision: it is for requests with `wait`']);
});
