import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { admitRun, levelsOf, withKey } from '#test/support/access/tenant-levels.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

describe('a deletion', () => {
  const refused = async (tenant: Tenant, path: string, ...reasons: string[]) => {
    const answer = await tenant.owner.delete(path, withKey());
    expect(answer.status, answer.text).toBe(409);
    for (const reason of reasons) expect(answer.body.error).toContain(reason);
  };

  test('deleting a container is refused and names the resources inside it, including archived ones', async () => {
    const tenant = await makeTenant(api);
    const { owner } = tenant;
    await owner.post(`/environments/${tenant.environment}/archive`);
    await refused(tenant, `/projects/${tenant.project}`, 'environments: development; delete them first');
    await refused(tenant, tenant.teamPath, 'projects: network');
    await refused(tenant, `/organizations/${tenant.organization}`, 'teams: core');
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g'])
      await owner.make('/environments', { project_id: tenant.project, name, kind: 'staging' });
    await refused(tenant, `/projects/${tenant.project}`, 'environments: development, b, c, d, e and more');
  });

  test('deleting a team with active templates is refused and names them', async () => {
    const tenant = await makeTenant(api);
    const { template, run } = await admitRun(tenant);
    await tenant.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    for (const path of levelsOf(tenant).slice(0, 2)) await tenant.owner.delete(path, withKey());
    await refused(tenant, tenant.teamPath, 'templates that are not archived: greeter; archive them first');
    await tenant.owner.post(`/registry/templates/${template}/archive`);
    expect((await tenant.owner.delete(tenant.teamPath, withKey())).status).toBe(204);
    expect((await tenant.owner.get(`/registry/templates/${template}`)).status).toBe(404);
  });

  test('deleting a team with service accounts is refused and names them to those who may read them', async () => {
    const tenant = await makeTenant(api);
    for (const path of levelsOf(tenant).slice(0, 2)) await tenant.owner.delete(path, withKey());
    const id = randomUUID();
    await api.rows(
      `with account as (insert into principals (id, kind, name, role, created_at)
                        values (?, 'service_account', 'deployer', 'operator', now()) returning id)
       insert into service_accounts (id, owner_team_id, created_by) select id, ?, id from account`,
      [id, tenant.team],
    );
    await refused(tenant, tenant.teamPath, 'service accounts: "deployer"; delete or transfer them first');
    const outsider = await api.addUser('maintainer');
    await join(tenant, outsider, 'owner');
    const counted = await outsider.delete(tenant.teamPath, withKey());
    expectConflict(counted, 'service accounts: 1; delete or transfer them first');
    expect(counted.text).not.toContain('deployer');
    await api.rows('update principals set deleted_at = now() where id = ?', [id]);
    expect((await tenant.owner.delete(tenant.teamPath, withKey())).status).toBe(204);
  });

  test('deleting an environment is refused and names its open runs and its instances with resources in one error', async () => {
    const tenant = await makeTenant(api);
    const { run } = await admitRun(tenant);
    await api.rows(`update instances set resource_count = 2 where id = ?`, [run.body.instance_id]);
    const path = `/environments/${tenant.environment}`;
    await refused(tenant, path, '"greeter"; destroy them first', `${run.body.id}; cancel them`);
    await refused(tenant, tenant.teamPath, '"greeter"', run.body.id, 'projects: network', 'templates');
    await tenant.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    await refused(tenant, path, '"greeter"');
    await api.rows(`update instances set resource_count = 0 where id = ?`, [run.body.instance_id]);
    expect((await tenant.owner.delete(path, withKey())).status).toBe(204);
  });
});

describe('an instance in a deleted environment', () => {
  test('accepts no state, and its runs cannot be requeued, and a stranger gets 404', async () => {
    const tenant = await makeTenant(api);
    const { run } = await admitRun(tenant);
    await tenant.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    const state = { version: 4, serial: 1, lineage: 'a', resources: [] };
    const path = `/environments/${tenant.environment}`;
    await tenant.owner.post(`${path}/archive`);
    const archived = await tenant.owner.post(`/instances/${run.body.instance_id}/state`, state);
    expect(archived).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('environment is archived') },
    });
    await tenant.owner.delete(path, withKey());
    expect((await tenant.owner.get(`/instances/${run.body.instance_id}`)).status).toBe(200);
    expect((await tenant.owner.post(`/instances/${run.body.instance_id}/state`, state)).status).toBe(404);
    const requeued = await tenant.owner.post(`/runs/${run.body.id}/requeue`);
    expect(requeued).toMatchObject({ status: 409, body: { error: expect.stringContaining('is gone') } });
    const stranger = await api.addUser('maintainer');
    expect((await stranger.post(`/runs/${run.body.id}/requeue`)).status).toBe(404);
  });
});
