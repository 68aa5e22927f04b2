import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const missing = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';

describe('a project', () => {
  test('is created in a team, and is read as it was created', async () => {
    const { owner, organization, team } = await makeTenant(api);
    const answer = await owner.post('/projects', { team_id: team, name: 'Data Lake', description: 'All of it' });
    expect(answer).toMatchObject({
      status: 201,
      headers: { location: `/api/v1/projects/${answer.body.id}` },
      body: { organization_id: organization, team_id: team, slug: 'data-lake', description: 'All of it', revision: 1 },
    });
    expect((await owner.get(`/projects/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test('has a slug that is unique in its team, and not among teams', async () => {
    const [one, two] = await Promise.all([makeTenant(api), makeTenant(api)]);
    const taken = await one.owner.post('/projects', { team_id: one.team, name: 'Network' });
    expect(taken).toMatchObject({ status: 409, body: { error: expect.stringContaining('"network"') } });
    expect((await two.owner.get(`/projects/${two.project}`)).body.slug).toBe('network');
    const other = await one.owner.make('/projects', { team_id: one.team, name: 'Other' });
    const renamed = await one.owner.patch(`/projects/${other.id}`, { slug: 'network' });
    expect(renamed).toMatchObject({ status: 409, body: { error: expect.stringContaining('"network"') } });
    expect((await one.owner.get(`/projects/${other.id}`)).body).toMatchObject({ slug: 'other', revision: 1 });
  });

  test.each([
    ['owner', 201],
    ['admin', 201],
    ['member', 403],
    ['viewer', 403],
  ] as const)('can be created by a team %s: %i', async (role, status) => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('maintainer');
    await join(tenant, user, 'member', role);
    expect((await user.post('/projects', { team_id: tenant.team, name: 'New' })).status).toBe(status);
    expect((await user.get(`/projects/${tenant.project}`)).status).toBe(200);
  });

  test('cannot be created by a requester with any role in the team', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('requester');
    await join(tenant, user, 'owner', 'owner');
    expect((await user.post('/projects', { team_id: tenant.team, name: 'New' })).status).toBe(403);
  });

  test('a project of another tenant answers every operation as a missing one does', async () => {
    const tenant = await makeTenant(api);
    const stranger = await api.addUser('operator');
    const requests: ((project: string, team: string) => Promise<{ status: number; body: unknown }>)[] = [
      (project) => stranger.get(`/projects/${project}`),
      (project) => stranger.patch(`/projects/${project}`, { name: 'Mine' }),
      (project) => stranger.post(`/projects/${project}/archive`),
      (project) => stranger.post(`/projects/${project}/unarchive`),
      (_project, team) => stranger.post('/projects', { team_id: team, name: 'Mine' }),
      (_project, team) => stranger.get(`/projects?team_id=${team}`),
      (project) => stranger.post('/environments', { project_id: project, name: 'Mine', kind: 'staging' }),
    ];
    for (const request of requests) {
      const [hidden, absent] = await Promise.all([request(tenant.project, tenant.team), request(missing, missing)]);
      expect(hidden.status).toBe(404);
      expect(hidden.body).toEqual(absent.body);
    }
    const listed = await stranger.get('/projects');
    expect(listed).toMatchObject({ status: 200, body: { projects: [], next_cursor: null } });
  });

  test('is listed among those of all readable teams, or of one team', async () => {
    const [one, two] = await Promise.all([makeTenant(api), makeTenant(api)]);
    await join(two, one.owner, 'member', 'viewer');
    const ids = async (query: string) =>
      (await one.owner.get(`/projects${query}`)).body.projects.map(({ id }: { id: string }) => id);
    expect(await ids('')).toEqual([one.project, two.project].sort().reverse());
    expect(await ids(`?team_id=${two.team}`)).toEqual([two.project]);
  });

  test('a project that is archived keeps its slug and accepts nothing new until it is unarchived', async () => {
    const tenant = await makeTenant(api);
    const { owner, project, team } = tenant;
    expect((await owner.post(`/projects/${project}/archive`)).body).toMatchObject({
      revision: 2,
      archived_at: expect.any(String),
    });
    const environment = await owner.post('/environments', { project_id: project, name: 'Late', kind: 'staging' });
    expect(environment).toMatchObject({ status: 409, body: { error: expect.stringContaining('project is archived') } });
    expect((await owner.post('/projects', { team_id: team, name: 'Network' })).status).toBe(409);
    expect((await owner.get('/projects')).body.projects).toEqual([]);
    expect((await owner.get('/projects?archived=true')).body.projects).toMatchObject([{ id: project }]);
    expect((await owner.get(`/projects/${project}`)).status).toBe(200);
    expect((await owner.post(`/projects/${project}/unarchive`)).body).toMatchObject({ archived_at: null });
    await owner.make('/environments', { project_id: project, name: 'Late', kind: 'staging' });
  });

  test('a project of a deleted organization answers 404, although its row exists', async () => {
    const tenant = await makeTenant(api);
    const admin = await api.addUser('admin');
    await api.rows('update organizations set deleted_at = now() where id = ?', [tenant.organization]);
    for (const path of [tenant.teamPath, `/projects/${tenant.project}`, `/environments/${tenant.environment}`]) {
      expect((await admin.get(path)).status).toBe(404);
    }
    const { body } = await admin.get('/projects?limit=200');
    expect(body.projects.map(({ id }: { id: string }) => id)).not.toContain(tenant.project);
  });

  test('leaves only the changed fields in the audit', async () => {
    const { owner, project, team, organization } = await makeTenant(api);
    await owner.patch(`/projects/${project}`, { name: 'Backbone', description: '' });
    const rows = await api.rows(
      `select before, after, organization_id, team_id from audit_records
        where action = 'project.updated' and resource_id = ?`,
      [project],
    );
    expect(rows).toEqual([
      { before: { name: 'Network' }, after: { name: 'Backbone' }, organization_id: organization, team_id: team },
    ]);
  });
});
