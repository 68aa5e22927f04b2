import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const withKey = (key: string = randomUUID()) => ({ 'idempotency-key': key });

/** Innermost first, as a tenant is taken apart. */
const levelsOf = (tenant: Tenant) => [
  `/environments/${tenant.environment}`,
  `/projects/${tenant.project}`,
  tenant.teamPath,
  `/organizations/${tenant.organization}`,
];

async function takeApart(tenant: Tenant, user: ApiUser = tenant.owner): Promise<void> {
  for (const path of levelsOf(tenant)) {
    const answer = await user.delete(path, withKey());
    expect(answer.status, answer.text).toBe(204);
  }
}

async function admitRun(tenant: Tenant): Promise<{ template: string; run: ApiAnswer }> {
  const template = await tenant.owner.make('/registry/templates', { name: 'Greeter', team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
  const run = await tenant.owner.post('/runs', { template_id: template.id, environment_id: tenant.environment });
  expect(run.status, run.text).toBe(202);
  return { template: template.id, run };
}

describe('a deletion', () => {
  test('answers 204 from the innermost level to the outermost, and leaves nothing to be read', async () => {
    const tenant = await makeTenant(api);
    await takeApart(tenant);
    for (const path of levelsOf(tenant)) expect((await tenant.owner.get(path)).status).toBe(404);
    const whoami = await tenant.owner.get('/auth/whoami');
    expect(whoami.body).toMatchObject({ organizations: [], teams: [] });
  });

  test('demands a key: none, two and one that is no lowercase UUID are refused', async () => {
    const tenant = await makeTenant(api);
    for (const path of levelsOf(tenant)) {
      for (const headers of [{}, withKey(''), withKey('00000000-0000-0000-0000-000000000000'), withKey('A')])
        expect((await tenant.owner.delete(path, headers)).status).toBe(400);
      expect((await tenant.owner.get(path)).status).toBe(200);
    }
  });

  test('is repeated by its key, at every level, also once nothing of it is there any more', async () => {
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

  test('binds its key: another thing, another command and another caller conflict', async () => {
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
      expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('Idempotency-Key') } });
    }
    expect((await other.owner.get(`/environments/${other.environment}`)).status).toBe(200);
  });

  test('that was refused binds nothing: its key is good once what stood in the way is gone', async () => {
    const tenant = await makeTenant(api);
    const key = randomUUID();
    expect((await tenant.owner.delete(`/projects/${tenant.project}`, withKey(key))).status).toBe(409);
    await tenant.owner.delete(`/environments/${tenant.environment}`, withKey());
    expect((await tenant.owner.delete(`/projects/${tenant.project}`, withKey(key))).status).toBe(204);
  });

  test('is done once, however often it is asked for at the same time', async () => {
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

  test('is for owners where it ends a team or an organization', async () => {
    const tenant = await makeTenant(api);
    const admin = await api.addUser('maintainer');
    await join(tenant, admin, 'admin', 'admin');
    for (const path of [tenant.teamPath, `/organizations/${tenant.organization}`])
      expect((await admin.delete(path, withKey())).status).toBe(403);
    for (const path of levelsOf(tenant).slice(0, 2)) expect((await admin.delete(path, withKey())).status).toBe(204);
    const root = await api.addUser('admin');
    for (const path of levelsOf(tenant).slice(2)) expect((await root.delete(path, withKey())).status).toBe(204);
  });

  test('reaches what is archived, also inside an archived owner', async () => {
    const tenant = await makeTenant(api);
    for (const path of levelsOf(tenant)) await tenant.owner.post(`${path}/archive`);
    await takeApart(tenant);
  });
});

describe('what is deleted', () => {
  test('frees its names: slugs of every level, and those that an organization had before', async () => {
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
      const inTheWay = `${path.slice(0, path.lastIndexOf('/'))}/${again?.body.id}`;
      expect((await owner.delete(inTheWay, withKey())).status).toBe(204);
    }
    expect((await owner.delete(`/organizations/${tenant.organization}`, withKey())).status).toBe(204);
    for (const slug of [organization.slug, `${organization.slug}-new`]) {
      expect((await owner.get(`/organizations/${slug}`)).status).toBe(404);
      await owner.make('/organizations', { name: 'Another', slug });
    }
  });

  test('keeps its id in history, and no secret', async () => {
    const tenant = await makeTenant(api);
    const secret = { value: 'hunter2', category: 'env', sensitive: true };
    await tenant.owner.put(`/environments/${tenant.environment}/variables/TOKEN`, secret);
    await takeApart(tenant);
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

  test('still shows its runs to who could read them, by their ids', async () => {
    const tenant = await makeTenant(api);
    const { run } = await admitRun(tenant);
    await tenant.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    for (const path of levelsOf(tenant).slice(0, 2)) await tenant.owner.delete(path, withKey());
    expect((await tenant.owner.get(`/runs/${run.body.id}`)).body).toMatchObject({
      ...{ id: run.body.id, environment_id: tenant.environment, project_id: tenant.project },
    });
    const listed = await tenant.owner.get(`/runs?environment_id=${tenant.environment}`);
    expect(listed.body.runs).toHaveLength(1);
  });
});

describe('in the way of a deletion', () => {
  const refused = async (tenant: Tenant, path: string, ...reasons: string[]) => {
    const answer = await tenant.owner.delete(path, withKey());
    expect(answer.status, answer.text).toBe(409);
    for (const reason of reasons) expect(answer.body.error).toContain(reason);
  };

  test('is what it contains, archived or not, by its name', async () => {
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

  test('are the templates of a team until they are archived; they go with it', async () => {
    const tenant = await makeTenant(api);
    const { template, run } = await admitRun(tenant);
    await tenant.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    for (const path of levelsOf(tenant).slice(0, 2)) await tenant.owner.delete(path, withKey());
    await refused(tenant, tenant.teamPath, 'templates that are not archived: greeter; archive them first');
    await tenant.owner.post(`/registry/templates/${template}/archive`);
    expect((await tenant.owner.delete(tenant.teamPath, withKey())).status).toBe(204);
    expect((await tenant.owner.get(`/registry/templates/${template}`)).status).toBe(404);
  });

  test('are the service accounts of a team, by their names', async () => {
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
    await api.rows('update principals set deleted_at = now() where id = ?', [id]);
    expect((await tenant.owner.delete(tenant.teamPath, withKey())).status).toBe(204);
  });

  test('are runs that have not ended and instances that hold resources, said at once', async () => {
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

describe('what was deployed in an environment that is gone', () => {
  test('takes no state any more, and its runs are not repeated; to a stranger neither was ever there', async () => {
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

describe('a deletion and something new at the same time', () => {
  /** Half of them first ask for the new thing, half for the deletion: never are there both in the end. */
  test.each(['team', 'project', 'environment', 'run'])('never leave a %s without its owner', async (kind) => {
    for (let round = 0; round < 6; round += 1) {
      const tenant = await makeTenant(api);
      const { template, run } = kind === 'run' ? await admitRun(tenant) : { template: '', run: undefined };
      if (run) await tenant.owner.post(`/runs/${run.body.id}/cancel`, { force: true });
      const levels = levelsOf(tenant);
      const parent = { team: 3, project: 2, environment: 1, run: 0 }[kind] ?? 0;
      for (const path of levels.slice(0, parent)) await tenant.owner.delete(path, withKey());
      const remove = () => tenant.owner.delete(levels[parent] ?? '', withKey());
      const make = () => makeIn(tenant, kind, template);
      const [first, second] = await Promise.all(round % 2 ? [remove(), make()] : [make(), remove()]);
      const [removed, made] = round % 2 ? [first, second] : [second, first];
      expect([
        [204, 404],
        [409, 201],
        [409, 202],
      ]).toContainEqual([removed.status, made.status]);
    }
  });

  test('of an organization and another one that wants its slug agree whose it is', async () => {
    for (let round = 0; round < 8; round += 1) {
      const owner = await api.addUser('maintainer');
      const slug = `wanted-${randomUUID().slice(0, 8)}`;
      const { id } = await owner.make('/organizations', { name: 'First', slug });
      const remove = () => owner.delete(`/organizations/${id}`, withKey());
      const make = () => owner.post('/organizations', { name: 'Second', slug });
      const answers = await Promise.all(round % 2 ? [remove(), make(), make()] : [make(), remove(), make()]);
      const statuses = answers.map(({ status }) => status).sort();
      expect([
        [201, 204, 409],
        [204, 409, 409],
      ]).toContainEqual(statuses);
    }
  });

  function makeIn({ owner, ...tenant }: Tenant, kind: string, template: string): Promise<ApiAnswer> {
    if (kind === 'team') return owner.post(`/organizations/${tenant.organization}/teams`, { name: 'Late' });
    if (kind === 'project') return owner.post('/projects', { team_id: tenant.team, name: 'Late' });
    if (kind === 'run') return owner.post('/runs', { template_id: template, environment_id: tenant.environment });
    return owner.post('/environments', { project_id: tenant.project, name: 'Late', kind: 'staging' });
  }
});
