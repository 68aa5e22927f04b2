import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findEnvironment } from '#domain/environments/store.ts';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const missing = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';
const policy = { required: 2, when: 'destroys', allow_self: true };

describe('an environment', () => {
  test('is created in a project with its approval policy and time to live', async () => {
    const { owner, project, team, organization } = await makeTenant(api);
    const body = { project_id: project, name: 'Preview', kind: 'staging', approval_policy: policy, ttl: '36h' };
    const answer = await owner.post('/environments', body);
    expect(answer).toMatchObject({
      status: 201,
      headers: { location: `/api/v1/environments/${answer.body.id}` },
      body: { organization_id: organization, team_id: team, project_id: project, slug: 'preview', kind: 'staging' },
    });
    expect(answer.body).toMatchObject({ approval_policy: policy, ttl: 'P1DT12H', revision: 1, archived_at: null });
    expect((await owner.get(`/environments/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test.each([
    ['development', { required: 0, when: 'never', allow_self: false }],
    ['staging', { required: 0, when: 'never', allow_self: false }],
    ['production', { required: 1, when: 'changes', allow_self: false }],
  ])('an environment of kind %s has the default policy %j', async (kind, expected) => {
    const { owner, project } = await makeTenant(api);
    const made = await owner.make('/environments', { project_id: project, name: 'New', kind });
    expect(made).toMatchObject({ approval_policy: expected, ttl: null });
  });

  test.each([
    [{ kind: 'moon' }, 'kind'],
    [{ approval_policy: { required: 6, when: 'always' } }, 'required'],
    [{ approval_policy: { required: 1, when: 'sometimes' } }, 'when'],
    [{ approval_policy: { required: 1, when: 'always', by: 'me' } }, 'by'],
    [{ ttl: 'P1Y' }, 'ttl'],
    [{ ttl: '1s' }, 'ttl'],
  ])('that is created with %j answers 400', async (part, field) => {
    const { owner, project } = await makeTenant(api);
    const answer = await owner.post('/environments', { project_id: project, name: 'New', kind: 'staging', ...part });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } });
  });

  test('changes only the fields in the request, and null removes the time to live', async () => {
    const { owner, environment } = await makeTenant(api, { ttl: 'PT1H', approval_policy: policy });
    const renamed = await owner.patch(`/environments/${environment}`, { name: 'Sandbox' });
    expect(renamed.body).toMatchObject({ name: 'Sandbox', ttl: 'PT1H', approval_policy: policy, revision: 2 });
    const endless = await owner.patch(`/environments/${environment}`, { ttl: null, expected_revision: 2 });
    expect(endless.body).toMatchObject({ ttl: null, revision: 3 });
    const stricter = { required: 3, when: 'always', allow_self: false };
    const changed = await owner.patch(`/environments/${environment}`, { approval_policy: stricter });
    expect(changed.body).toMatchObject({ approval_policy: stricter, revision: 4 });
    expect((await owner.patch(`/environments/${environment}`, { ttl: 'PT1H', expected_revision: 2 })).status).toBe(409);
    const rows = await api.rows(
      `select before, after from audit_records where action = 'environment.updated' and resource_id = ?
        and outcome = 'committed' order by at desc limit 1`,
      [environment],
    );
    expect(rows).toEqual([
      {
        before: { approval_required: 2, approval_when: 'destroys', approval_allow_self: true },
        after: { approval_required: 3, approval_when: 'always', approval_allow_self: false },
      },
    ]);
  });

  test('has a slug that is unique in its project', async () => {
    const { owner, project } = await makeTenant(api);
    const taken = await owner.post('/environments', { project_id: project, name: 'development', kind: 'staging' });
    expect(taken).toMatchObject({ status: 409, body: { error: expect.stringContaining('"development"') } });
  });

  test('an environment of another tenant answers every operation as a missing one does', async () => {
    const tenant = await makeTenant(api);
    const stranger = await api.addUser('operator');
    const set = { value: 'x', category: 'env', sensitive: true };
    const requests: ((id: string) => Promise<{ status: number; body: unknown }>)[] = [
      (id) => stranger.get(`/environments/${id}`),
      (id) => stranger.patch(`/environments/${id}`, { name: 'Mine' }),
      (id) => stranger.post(`/environments/${id}/archive`),
      (id) => stranger.post(`/environments/${id}/unarchive`),
      (id) => stranger.get(`/environments/${id}/variables`),
      (id) => stranger.put(`/environments/${id}/variables/TOKEN`, set),
      (id) => stranger.delete(`/environments/${id}/variables/TOKEN`),
    ];
    for (const request of requests) {
      const [hidden, absent] = await Promise.all([request(tenant.environment), request(missing)]);
      expect(hidden.status).toBe(404);
      expect(hidden.body).toEqual(absent.body);
    }
    expect((await stranger.get(`/environments?project_id=${tenant.project}`)).status).toBe(404);
  });

  test('is listed for those who may read its team, and by project', async () => {
    const tenant = await makeTenant(api);
    const viewer = await api.addUser('requester');
    await join(tenant, viewer, 'member', 'viewer');
    const listed = await viewer.get(`/environments?project_id=${tenant.project}`);
    expect(listed.body.environments).toMatchObject([{ id: tenant.environment, team_id: tenant.team }]);
    expect((await viewer.get(`/environments?project_id=${missing}`)).status).toBe(404);
    expect((await viewer.patch(`/environments/${tenant.environment}`, { name: 'x' })).status).toBe(403);
  });

  test('is found with its archived levels, outermost first', async () => {
    const { owner, environment, project, organization, team } = await makeTenant(api, { approval_policy: policy });
    const em = api.services.orm.em.fork();
    expect(await findEnvironment(em, environment)).toMatchObject({
      organizationId: organization,
      teamId: team,
      projectId: project,
      archived: [],
      approvalRequired: 2,
      approvalWhen: 'destroys',
      approvalAllowSelf: true,
      kind: 'development',
    });
    await owner.post(`/environments/${environment}/archive`);
    await owner.post(`/organizations/${organization}/archive`);
    expect((await findEnvironment(em, environment))?.archived).toEqual(['organization', 'environment']);
  });

  test('is archived, like its owners, only after a running admission has ended', async () => {
    const { owner, environment, project, organization, teamPath } = await makeTenant(api);
    const em = api.services.orm.em.fork();
    await em.begin();
    await findEnvironment(em, environment, true);
    const paths = [`/environments/${environment}`, `/projects/${project}`, teamPath, `/organizations/${organization}`];
    const archiving = paths.map((path) => owner.post(`${path}/archive`));
    await awaitLockWaits(api.services.orm, archiving.length);
    await em.commit();
    expect((await Promise.all(archiving)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  test('that is created while its project is being archived answers 409', async () => {
    const { owner, project } = await makeTenant(api);
    const em = api.services.orm.em.fork();
    await em.begin();
    await em.execute('update projects set archived_at = now(), revision = revision + 1 where id = ?', [project]);
    const making = owner.post('/environments', { project_id: project, name: 'Late', kind: 'staging' });
    await awaitLockWaits(api.services.orm);
    await em.commit();
    expect(await making).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('project is archived') },
    });
  });
});
