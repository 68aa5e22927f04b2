import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate } from '#test/support/assemblies/assemblies.ts';

let api: TestApi;
let tenant: Tenant;
let template: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  template = (await addTemplate(tenant.owner, { team: tenant.team })).id;
});
afterAll(() => api?.close());

/** An assembly with a run that has ended. No worker has executed it. */
async function ran(): Promise<{ path: string; run: string; runId: string }> {
  const path = await addAssembly(tenant, { nodes: { db: { template, instance: `db-${randomUUID()}` } } });
  await tenant.owner.post(`${path}/publish`, { version: '1.0.0' });
  const { status, text, body } = await tenant.owner.post(`${path}/runs`, { environment_id: tenant.environment });
  expect(status, text).toBe(202);
  await api.rows("update assembly_runs set status = 'failed', finished_at = now() where id = ?", [body.id]);
  return { path, run: `${path}/runs/${body.id}`, runId: body.id };
}

describe('a deleted assembly', () => {
  it('leaves its runs, nodes, graphs and events readable, and accepts no changes', async () => {
    const { owner } = tenant;
    const { path, run, runId } = await ran();
    expect((await owner.delete(path)).status).toBe(204);
    const reads = [run, `${run}/nodes`, `${run}/nodes/db`, `${run}/events`, `${run}/graph`, `${path}/runs`].map((at) =>
      owner.get(at),
    );
    for (const answer of await Promise.all(reads)) expect(answer.status, answer.text).toBe(200);
    expect((await owner.get(run)).body).toMatchObject({
      id: runId,
      actions: [
        { name: 'cancel', allowed: false },
        { name: 'resume', allowed: false, reason: 'the assembly was deleted: its runs can only be read' },
      ],
    });
    const changes = [
      owner.post(`${run}/resume`),
      owner.post(`${run}/cancel`),
      owner.post(`${run}/nodes/db/approve`, { decision: 'approve', plan_digest: `sha256:${'a'.repeat(64)}` }),
      owner.post(`${path}/runs`, { environment_id: tenant.environment }),
    ];
    for (const answer of await Promise.all(changes)) expect(answer.status, answer.text).toBe(404);
    const stranger = (await makeTenant(api)).owner;
    expect((await stranger.get(run)).status).toBe(404);
    expect((await stranger.get(`${path}/runs`)).status).toBe(404);
  });
});

describe('an assembly with a run that has not ended', () => {
  it('cannot be archived or deleted, and errors and actions name the run', async () => {
    const { owner } = tenant;
    const { path, runId } = await ran();
    const setEnd = (end: string) => api.rows(`update assembly_runs set finished_at = ${end} where id = ?`, [runId]);
    await setEnd('null');
    const error = `the assembly has assembly runs that have not ended: ${runId}; cancel them or let them end first`;
    const { body: shown } = await owner.get(path);
    for (const name of ['archive', 'delete'])
      expect(shown.actions.find((action: { name: string }) => action.name === name)).toMatchObject({ reason: error });
    for (const refused of [await owner.post(`${path}/archive`), await owner.delete(path)])
      expect([refused.status, refused.headers['x-error-code'], refused.body.error]).toEqual([409, 'in_use', error]);
    await setEnd('now()');
    expect((await owner.post(`${path}/archive`)).status).toBe(200);
  });
});

describe('an assembly that has deployed something', () => {
  it('can be deleted once no instance has resources, and until then error and action name the instances', async () => {
    const { owner } = tenant;
    const { path, runId } = await ran();
    const instance = `held-${randomUUID()}`;
    const { body } = await owner.post('/runs', {
      template_id: template,
      environment_id: tenant.environment,
      instance,
    });
    const holds = (count: number) =>
      api.rows('update instances set resource_count = ? where name = ?', [count, instance]);
    await api.rows("update runs set assembly_run_id = ?, status = 'succeeded', finished_at = now() where id = ?", [
      runId,
      body.id,
    ]);
    await holds(2);
    const error = `the assembly has instances that still hold resources: "${instance}"; destroy them first`;
    const { body: shown } = await owner.get(path);
    expect(shown.actions.find(({ name }: { name: string }) => name === 'delete')).toMatchObject({ reason: error });
    const refused = await owner.delete(path);
    expect([refused.status, refused.headers['x-error-code'], refused.body.error]).toEqual([409, 'in_use', error]);
    await holds(0);
    expect((await owner.delete(path)).status).toBe(204);
  });
});
