import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { levelsOf } from '#test/support/access/tenant-levels.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

describe('archiving', () => {
  test('an organization is allowed to its owners, and then nothing in it can be created or changed', async () => {
    const tenant = await makeTenant(api);
    const { owner, organization, teamPath } = tenant;
    const admin = await api.addUser('maintainer');
    await join(tenant, admin, 'admin');
    expect((await admin.post(`/organizations/${organization}/archive`)).status).toBe(403);
    const archived = await owner.post(`/organizations/${organization}/archive`);
    expect(archived).toMatchObject({ status: 200, body: { archived_at: expect.any(String), revision: 2 } });
    expect((await owner.post(`/organizations/${organization}/archive`)).body.revision).toBe(2);
    const refused: Promise<{ status: number; body: { error: string } }>[] = [
      owner.post(`/organizations/${organization}/teams`, { name: 'Late' }),
      owner.patch(`/organizations/${organization}`, { name: 'Late' }),
      owner.patch(teamPath, { name: 'Late' }),
      owner.post('/projects', { team_id: tenant.team, name: 'Late' }),
      owner.post('/environments', { project_id: tenant.project, name: 'Late', kind: 'staging' }),
      owner.put(`/environments/${tenant.environment}/variables/LATE`, { value: 'x', category: 'env' }),
      owner.put(`/organizations/${organization}/members/${admin.id}`, { role: 'member' }),
    ];
    for (const answer of await Promise.all(refused)) {
      expect(answer).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining('organization is archived') },
      });
    }
    const active = await owner.get('/organizations');
    expect(active.body.organizations).toEqual([]);
    expect((await owner.get('/organizations?archived=true')).body.organizations).toHaveLength(1);
    expect((await owner.post(`/organizations/${organization}/unarchive`)).body).toMatchObject({
      archived_at: null,
      revision: 3,
    });
    await owner.make(`/organizations/${organization}/teams`, { name: 'Late' });
  });

  test('increases the eligibility generation, which makes earlier grants void', async () => {
    const { owner, organization, teamPath, team } = await makeTenant(api);
    await owner.post(`${teamPath}/archive`);
    await owner.post(`${teamPath}/unarchive`);
    await owner.post(`/organizations/${organization}/archive`);
    const rows = await api.rows<{ generation: number }>(
      `select eligibility_generation as generation from teams where id = ?
       union all select eligibility_generation from organizations where id = ?`,
      [team, organization],
    );
    expect(rows.map(({ generation }) => generation)).toEqual([2, 2]);
  });

  test('an organization prevents unarchiving its teams', async () => {
    const { owner, organization, teamPath } = await makeTenant(api);
    await owner.post(`${teamPath}/archive`);
    await owner.post(`/organizations/${organization}/archive`);
    const answer = await owner.post(`${teamPath}/unarchive`);
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('organization is archived') } });
  });
});

describe('archiving something in use', () => {
  test('is refused at every level with the instances that have resources', async () => {
    const tenant = await makeTenant(api);
    await api.rows(
      `insert into instances (id, team_id, environment_id, template_id, name, resource_count, outputs, created_at)
       values (gen_random_uuid(), ?, ?, gen_random_uuid(), 'backbone', 3, '{}', now())`,
      [tenant.team, tenant.environment],
    );
    for (const path of levelsOf(tenant)) {
      const answer = await tenant.owner.post(`${path}/archive`);
      expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('"backbone"') } });
    }
    await api.rows(`update instances set resource_count = 0 where environment_id = ?`, [tenant.environment]);
    for (const path of levelsOf(tenant)) expect((await tenant.owner.post(`${path}/archive`)).status).toBe(200);
  });

  test('is refused at every level with the runs that have not ended, and archived levels admit no run', async () => {
    const tenant = await makeTenant(api);
    const { owner, environment } = tenant;
    const template = await owner.make('/registry/templates', { name: 'Greeter', team_id: tenant.team });
    const spec = { executor: { kind: 'command', apply: [{ name: 'greet', run: ['echo', 'hello'] }] } };
    await owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec });
    const request = {
      template_id: template.id,
      version: '1.0.0',
      environment_id: environment,
      operation: 'apply',
      variables: {},
    };
    const run = await owner.post('/runs', request);
    expect(run.status, run.text).toBe(202);
    for (const path of levelsOf(tenant)) {
      const answer = await owner.post(`${path}/archive`);
      expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining(run.body.id) } });
    }
    await api.rows(`update runs set status = 'canceled', finished_at = now() where id = ?`, [run.body.id]);
    for (const path of levelsOf(tenant)) {
      expect((await owner.post(`${path}/archive`)).status).toBe(200);
      expect((await owner.post('/runs', request)).status).toBe(409);
    }
  });
});
