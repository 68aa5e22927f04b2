import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { publishTemplate } from '#test/support/api/publish-template.ts';

let api: TestApi;
let tenant: Tenant;
let administrator: ApiUser;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  administrator = await api.addUser('admin');
});
afterAll(() => api?.close());

const publishFor = (caller: ApiUser, template: object, spec: object = sayHello) =>
  publishTemplate(caller, spec, { name: 'Greeter', ...template });

async function listed(caller: ApiUser, query: string): Promise<string[]> {
  const { status, body, text } = await caller.get(`/registry/templates?${query}`);
  expect(status, text).toBe(200);
  return body.templates.map(({ id }: { id: string }) => id);
}

describe('the readme of a template', () => {
  test('is stored as written, can be changed, and is not in lists', async () => {
    const { owner, team } = tenant;
    const readme = '# Network\n\n<b>not markup</b>';
    const { id } = await owner.make('/registry/templates', { name: 'Read me', team_id: team, readme });
    const path = `/registry/templates/${id}`;
    expect((await owner.get(path)).body).toMatchObject({ readme, revision: 1 });
    expect((await owner.patch(path, { readme })).body).toMatchObject({ revision: 1 });
    expect((await owner.patch(path, { readme: 'Other' })).body).toMatchObject({ readme: 'Other', revision: 2 });
    expect((await owner.patch(path, { description: 'Same readme' })).body).toMatchObject({ readme: 'Other' });
    const { body } = await owner.get(`/registry/templates?team_id=${team}&q=read`);
    expect(body.templates[0]).not.toHaveProperty('readme');
    expect(body.templates[0]).not.toHaveProperty('actions');
  });

  test('is refused above 256 KiB, and the audit records that it changed, not its text', async () => {
    const { owner, team } = tenant;
    const { id } = await owner.make('/registry/templates', {
      name: 'Long',
      team_id: team,
      readme: 'kept out of audit',
    });
    const answer = await owner.patch(`/registry/templates/${id}`, { readme: 'ü'.repeat(128 * 1024 + 1) });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('at most 256 KiB') } });
    expect((await owner.patch(`/registry/templates/${id}`, { readme: 'x'.repeat(256 * 1024) })).status).toBe(200);
    const records = await api.rows<{ record: string }>('select row_to_json(a)::text as record from audit_records a');
    expect(records.some(({ record }) => record.includes('readme_digest'))).toBe(true);
    expect(records.some(({ record }) => record.includes('kept out of audit'))).toBe(false);
  });
});

describe('the list of templates', () => {
  test('finds text in name, slug or description, and templates that have every given tag', async () => {
    const { owner, team } = tenant;
    const both = await publishFor(owner, {
      name: 'Cache',
      team_id: team,
      description: 'Redis, sized',
      tags: ['aws', 'data'],
    });
    const one = await publishFor(owner, { name: 'Queue', slug: 'redis-queue', team_id: team, tags: ['aws'] });
    expect(await listed(owner, 'q=REDIS')).toEqual([one, both]);
    expect(await listed(owner, 'tag=aws&tag=data')).toEqual([both]);
    expect(await listed(owner, 'tag=aws&q=queue')).toEqual([one]);
    expect(await listed(owner, 'q=%25')).toEqual([]);
  });

  test('is limited to an organization or a team, with the templates of the installation if requested', async () => {
    const other = await makeTenant(api);
    const { owner, organization, team } = other;
    const own = await publishFor(owner, { name: 'Own', team_id: team });
    const shared = await publishFor(administrator, { name: 'Shared by all' });
    expect(await listed(owner, `organization_id=${organization}`)).toEqual([own]);
    expect(await listed(owner, `organization_id=${organization}&with_installation=true`)).toEqual(
      expect.arrayContaining([own, shared]),
    );
    expect(await listed(owner, `team_id=${team}&with_installation=true`)).toEqual(
      expect.arrayContaining([own, shared]),
    );
    expect(await listed(owner, `team_id=${team}&organization_id=${organization}`)).toEqual([own]);
    expect((await owner.get(`/registry/templates?organization_id=${tenant.organization}`)).status).toBe(404);
    const mismatch = `team_id=${team}&organization_id=${tenant.organization}`;
    expect((await administrator.get(`/registry/templates?${mismatch}`)).status).toBe(400);
    expect((await owner.get(`/registry/templates?${mismatch}`)).status).toBe(404);
  });

  test('shows the executor of the latest version, and the newest run that the reader may read', async () => {
    const shared = await publishFor(administrator, { name: 'Shared with runs' });
    const run = { template_id: shared, environment_id: tenant.environment };
    const { body } = await tenant.owner.post('/runs', run);
    const show = async (caller: ApiUser) =>
      (await caller.get('/registry/templates?q=shared+with+runs')).body.templates[0];
    const last_run = { id: body.id, status: 'queued', status_reason: null, created_at: expect.any(String) };
    expect(await show(tenant.owner)).toMatchObject({ executor: 'command', last_run });
    expect(await show((await makeTenant(api)).owner)).toMatchObject({ executor: 'command', last_run: null });
  });
});

describe('the actions of a template', () => {
  const reasons = async (caller: ApiUser, id: string) => {
    const { body } = await caller.get(`/registry/templates/${id}`);
    return Object.fromEntries(
      body.actions.map(({ name, reason }: { name: string; reason: string | null }) => [name, reason]),
    );
  };

  test('are allowed to its admin, and have reasons for a reader', async () => {
    const { owner, team, environment } = tenant;
    const id = await publishFor(owner, { name: 'Acted on', team_id: team });
    const nothing = { run: null, publish: null, update: null, archive: null, unarchive: null, delete: null };
    expect(await reasons(owner, id)).toEqual(nothing);
    const viewer = await api.addUser('requester');
    await join(tenant, viewer, 'member', 'viewer');
    expect(await reasons(viewer, id)).toMatchObject({
      run: expect.stringContaining('this needs team.secret.read'),
      update: expect.stringContaining('this needs template:write'),
    });
    const run = await owner.post('/runs', { template_id: id, environment_id: environment });
    expect((await reasons(owner, id))['delete']).toContain(`runs that have not ended: ${run.body.id}`);
    await owner.post(`/runs/${run.body.id}/cancel`, { force: true });
    await owner.post(`/registry/templates/${id}/archive`);
    const archived = 'the template is archived: unarchive it first';
    expect(await reasons(owner, id)).toEqual({ ...nothing, run: archived, publish: archived, update: archived });
  });

  test('do not allow a run while no version is published', async () => {
    const { id } = await tenant.owner.make('/registry/templates', { name: 'Empty', team_id: tenant.team });
    expect(await reasons(tenant.owner, id)).toMatchObject({ run: 'the template has no published version' });
  });
});

describe('a version in the catalog', () => {
  test('a version that is yanked shows the reason, and yanking it again keeps the first reason', async () => {
    const { owner, team } = tenant;
    const id = await publishFor(owner, { name: 'Yanked', team_id: team });
    const path = `/registry/templates/${id}/versions/1.0.0`;
    expect((await owner.get(path)).body).toMatchObject({ yank_reason: '' });
    expect((await owner.post(`${path}/yank`, { reason: 'Leaks a port' })).body.yank_reason).toBe('Leaks a port');
    expect((await owner.post(`${path}/yank`)).body.yank_reason).toBe('Leaks a port');
    expect((await owner.post(`${path}/yank`, { reason: 'x'.repeat(1001) })).status).toBe(400);
  });

  test('shows the text of its files', async () => {
    const { owner, team } = tenant;
    const files = { 'main.tf': '# hello\n', 'modules/a/b.tf': '# there\n' };
    const id = await publishFor(owner, { name: 'Files', team_id: team }, { executor: { kind: 'opentofu', files } });
    const path = `/registry/templates/${id}/versions/latest/file`;
    const answer = await owner.get(`${path}?path=modules%2Fa%2Fb.tf`);
    expect(answer).toMatchObject({ status: 200, body: { path: 'modules/a/b.tf', text: '# there\n', base64: null } });
    expect((await owner.get(`${path}?path=modules`)).status).toBe(404);
    expect((await owner.get(path)).status).toBe(400);
    const stranger = await api.addUser('maintainer');
    expect((await stranger.get(`${path}?path=main.tf`)).status).toBe(404);
  });
});
