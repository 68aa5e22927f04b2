import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { admitRun, deleteTenant, levelsOf, withKey } from '#test/support/access/tenant-levels.ts';
import { type ApiAnswer, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

describe('a deletion', () => {
  test('deleting from the innermost level to the outermost answers 204, and then nothing can be read', async () => {
    const tenant = await makeTenant(api);
    await deleteTenant(tenant);
    for (const path of levelsOf(tenant)) expect((await tenant.owner.get(path)).status).toBe(404);
    const whoami = await tenant.owner.get('/auth/whoami');
    expect(whoami.body).toMatchObject({ organizations: [], teams: [] });
  });

  test('a deletion without a valid idempotency key answers 400 and deletes nothing', async () => {
    const tenant = await makeTenant(api);
    for (const path of levelsOf(tenant)) {
      for (const headers of [{}, withKey(''), withKey('00000000-0000-0000-0000-000000000000'), withKey('A')])
        expect((await tenant.owner.delete(path, headers)).status).toBe(400);
      expect((await tenant.owner.get(path)).status).toBe(200);
    }
  });

  test('a deletion under the same key again answers 204, at every level and after its owners were deleted', async () => {
    const tenant = await makeTenant(api);
    const keys = levelsOf(tenant).map(() => randomUUID());
    for (const [index, path] of levelsOf(tenant).entries()) {
      expect((await tenant.owner.delete(path, withKey(keys[index]))).status).toBe(204);
    }
    for (const [index, path] of levelsOf(tenant).entries()) {
      const again = await tenant.owner.delete(path, withKey(keys[index]));
      expect([again.status, again.text]).toEqual([204, '']);
      expect(again.headers['cache-control']).toBe('no-store');
      expect((await tenant.owner.delete(path, withKey())).status).toBe(404);
    }
  });

  test('a deletion with the idempotency key of another resource, command or caller answers 409', async () => {
    const tenant = await makeTenant(api);
    const other = await makeTenant(api);
    const key = randomUUID();
    const [environment = ''] = levelsOf(tenant);
    expect((await tenant.owner.delete(environment, withKey(key))).status).toBe(204);
    const conflicts = [
      tenant.owner.delete(`/projects/${tenant.project}`, withKey(key)),
      other.owner.delete(environment, withKey(key)),
      other.owner.delete(`/environments/${other.environment}`, withKey(key)),
    ];
    for (const answer of await Promise.all(conflicts)) {
      expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('idempotency key') } });
    }
    expect((await other.owner.get(`/environments/${other.environment}`)).status).toBe(200);
  });

  test('a deletion that was refused leaves its key free for the same request', async () => {
    const tenant = await makeTenant(api);
    const key = randomUUID();
    expect((await tenant.owner.delete(`/projects/${tenant.project}`, withKey(key))).status).toBe(409);
    await tenant.owner.delete(`/environments/${tenant.environment}`, withKey());
    expect((await tenant.owner.delete(`/projects/${tenant.project}`, withKey(key))).status).toBe(204);
  });

  test('requested several times at once happens once', async () => {
    const tenant = await makeTenant(api);
    const [path = ''] = levelsOf(tenant);
    const key = randomUUID();
    const same = await Promise.all(Array.from({ length: 8 }, () => tenant.owner.delete(path, withKey(key))));
    expect(new Set(same.map(({ status }) => status))).toEqual(new Set([204]));
    const other = await makeTenant(api);
    const [otherPath = ''] = levelsOf(other);
    const raced = await Promise.all(Array.from({ length: 8 }, () => other.owner.delete(otherPath, withKey())));
    expect(raced.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(404)]);
    const rows = await api.rows(
      `select 1 from audit_records where action = 'environment.deleted' and resource_id in (?, ?)
      and outcome = 'committed'`,
      [tenant.environment, other.environment],
    );
    expect(rows).toHaveLength(2);
  });

  test('a deletion of a team or an organization is for owners and platform administrators', async () => {
    const tenant = await makeTenant(api);
    const admin = await api.addUser('maintainer');
    await join(tenant, admin, 'admin', 'admin');
    for (const path of [tenant.teamPath, `/organizations/${tenant.organization}`])
      expect((await admin.delete(path, withKey())).status).toBe(403);
    for (const path of levelsOf(tenant).slice(0, 2)) expect((await admin.delete(path, withKey())).status).toBe(204);
    const root = await api.addUser('admin');
    for (const path of levelsOf(tenant).slice(2)) expect((await root.delete(path, withKey())).status).toBe(204);
  });

  test('works for archived resources, even in archived owners', async () => {
    const tenant = await makeTenant(api);
    for (const path of levelsOf(tenant)) await tenant.owner.post(`${path}/archive`);
    await deleteTenant(tenant);
  });
});

describe('a deleted organization, team, project or environment', () => {
  test('frees its slug at every level, and the earlier slugs of an organization', async () => {
    const tenant = await makeTenant(api);
    const { owner } = tenant;
    const organization = (await owner.get(`/organizations/${tenant.organization}`)).body;
    await owner.patch(`/organizations/${tenant.organization}`, { slug: `${organization.slug}-new` });
    for (const path of levelsOf(tenant).slice(0, 3)) {
      const { slug } = (await owner.get(path)).body;
      expect((await owner.delete(path, withKey())).status).toBe(204);
      const parents: Record<string, () => Promise<ApiAnswer>> = {
        environments: () =>
          owner.post('/environments', { project_id: tenant.project, name: 'x', slug, kind: 'staging' }),
        projects: () => owner.post('/projects', { team_id: tenant.team, name: 'x', slug }),
        organizations: () => owner.post(`/organizations/${tenant.organization}/teams`, { name: 'x', slug }),
      };
      const again = await parents[path.split('/')[1] ?? '']?.();
      expect(again?.status, again?.text).toBe(201);
      const replacement = `${path.slice(0, path.lastIndexOf('/'))}/${again?.body.id}`;
      expect((await owner.delete(replacement, withKey())).status).toBe(204);
    }
    expect((await owner.delete(`/organizations/${tenant.organization}`, withKey())).status).toBe(204);
    for (const slug of [organization.slug, `${organization.slug}-new`]) {
      expect((await owner.get(`/organizations/${slug}`)).status).toBe(404);
      await owner.make('/organizations', { name: 'Another', slug });
    }
  });

  test('stays in the audit with its id, without secrets', async () => {
    const tenant = await makeTenant(api);
    const secret = { value: 'hunter2', category: 'env', sensitive: true };
    await tenant.owner.put(`/environments/${tenant.environment}/variables/TOKEN`, secret);
    await deleteTenant(tenant);
    const actions = await api.rows<{ action: string; resource_id: string }>(
      `select action, resource_id from audit_records where actor_id = ? and action like '%.deleted' order by at`,
      [tenant.owner.id],
    );
    expect(actions).toEqual([
      { action: 'environment.deleted', resource_id: tenant.environment },
      { action: 'project.deleted', resource_id: tenant.project },
      { action: 'team.deleted', resource_id: tenant.team },
      { action: 'organization.deleted', resource_id: tenant.organization },
    ]);
    const rows = await api.rows<{ generation: number; deleted: boolean }>(
      `select eligibility_generation as generation, deleted_at is not null as deleted from environments where id = ?`,
      [tenant.environment],
    );
    expect(rows).toEqual([{ generation: 2, deleted: true }]);
    expect(
      await api.rows(`select 1 from environment_variables where environment_id = ?`, [tenant.environment]),
    ).toEqual([]);
  });

  test('still shows its runs to those who could read them', async () => {
    const tenant = await makeTenant(api);
    const { run } = await admitRun(tenant);
    await tenant.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    for (const path of levelsOf(tenant).slice(0, 2)) await tenant.owner.delete(path, withKey());
    expect((await tenant.owner.get(`/runs/${run.body.id}`)).body).toMatchObject({
      id: run.body.id,
      environment_id: tenant.environment,
      project_id: tenant.project,
    });
    const listed = await tenant.owner.get(`/runs?environment_id=${tenant.environment}`);
    expect(listed.body.runs).toHaveLength(1);
  });
});
