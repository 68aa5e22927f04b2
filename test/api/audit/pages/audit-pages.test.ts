import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listRecordChanges, renderRecordChanges } from '#api/audit/pages/record-changes.ts';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

describe('the values before and after', () => {
  test('are listed by path, and unchanged values separately', () => {
    const before = { owner: { team_id: 'a', user_id: null }, tags: ['x'], gone: true };
    const after = { owner: { team_id: 'b', user_id: null }, tags: ['x', 'y'], more: {} };
    const { changes, unchanged } = listRecordChanges({ before, after });
    expect(changes.map(({ label, kind, before: from, after: to }) => [label, kind, from, to])).toEqual([
      ['gone', 'removed', true, undefined],
      ['more', 'added', undefined, {}],
      ['owner.team_id', 'changed', 'a', 'b'],
      ['tags[1]', 'added', undefined, 'y'],
    ]);
    expect(unchanged.map(({ label }) => label)).toEqual(['owner.user_id', 'tags[0]']);
    expect(listRecordChanges({ before: null, after: null })).toEqual({ changes: [], omitted: 0, unchanged: [] });
  });

  test('long texts before and after a change show where they differ', () => {
    const long = 'x'.repeat(30_000);
    const shown = String(renderRecordChanges({ before: { readme: `${long}a` }, after: { readme: `${long}b` } }));
    expect(shown).toContain('xa</del>');
    expect(shown).toContain('xb</ins>');
  });
});

describe('the pages of the audit', () => {
  test('show the history of one resource, and a record with its values and a link', async () => {
    const { owner, project } = await makeTenant(api);
    await owner.patch(`/projects/${project}`, { name: '<img src=x>' });
    const visitor = await signInVisitor(api, owner);
    const history = await visitor.get(`/audit?resource_type=projects&resource_id=${project}`);
    expect(history.text).toContain('>project.updated</a>');
    expect(history.text).not.toContain('>team.created</a>');
    const { body } = await owner.get(`/audit?action=project.updated&resource_id=${project}`);
    const record = await visitor.get(`/audit/${body.audit_records[0].id}`);
    expect(record.text).toContain('&lt;img src=x&gt;');
    expect(record.text).toContain('Network');
    expect(record.text).toContain(`href="/projects/${project}"`);
  });

  test('show short values in the list, such as the role of a member', async () => {
    const tenant = await makeTenant(api);
    await join(tenant, await api.addUser('operator'), 'member', 'viewer');
    const visitor = await signInVisitor(api, tenant.owner);
    expect((await visitor.get('/audit?action=team_member.set')).text).toContain('role (viewer)');
  });

  test('carry the filters into the pages and into the export', async () => {
    const { owner, organization } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    const page = await visitor.get(
      `/audit?organization_id=${organization}&action=project.created&outcome=committed&from=2020-01-01`,
    );
    expect(page.text).toContain('project.created');
    const exported =
      /href="(\/api\/v1\/audit\/export\?[^"]*format=csv)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const file = await visitor.get(exported, { accept: '*/*' });
    expect(file.status).toBe(200);
    const lines = file.text.trim().split('\r\n');
    expect(lines.length).toBe(2);
    expect(lines[1]).toContain('project.created');
  });

  test('find the actions of an actor by a part of the name, and suggest actors whom the visitor knows', async () => {
    const tenant = await makeTenant(api);
    const colleague = await api.addUser('maintainer', 'Ingrid Solbakken');
    await join(tenant, colleague, 'admin', 'admin');
    await colleague.patch(`/projects/${tenant.project}`, { name: 'Renamed by Ingrid' });
    const visitor = await signInVisitor(api, tenant.owner);
    const page = await visitor.get(`/audit?organization_id=${tenant.organization}&actor=solbakken`);
    expect(page.text).toContain('>project.updated</a>');
    expect(page.text).not.toContain('>project.created</a>');
    expect(page.text).toContain('value="solbakken"');
    expect(page.text).toContain(`<option value="${colleague.email}"`);
  });

  test('say what is wrong with a filter, and show the form again', async () => {
    const visitor = await signInVisitor(api, await api.addUser('requester'));
    const wrong = await visitor.get('/audit?resource_type=NOT%20A%20NAME');
    expect([wrong.status, wrong.text.includes('<option value="NOT A NAME" selected')]).toEqual([400, true]);
    const none = await visitor.get('/audit?resource_id=nothing');
    expect([none.status, none.text.includes('No records')]).toEqual([200, true]);
  });

  test('name the resources of records, and a deleted resource by its kind and the end of its id', async () => {
    const { owner, team, project, environment } = await makeTenant(api);
    const gone = await owner.make('/projects', { team_id: team, name: 'Short-lived' });
    await owner.delete(`/projects/${gone.id}`, { 'idempotency-key': crypto.randomUUID() });
    const { text } = await (await signInVisitor(api, owner)).get('/audit');
    expect(text).toContain(`<a class="foreign" href="/projects/${project}">Network</a>`);
    expect(text).toContain(`<a class="foreign" href="/environments/${environment}">Development</a>`);
    expect(text).toContain(`projects <code class="muted">…${gone.id.slice(-8)}</code>`);
    expect(text).not.toContain('Short-lived');
  });

  test('name no resources of an area that an administrator has turned off', async () => {
    const { owner, team } = await makeTenant(api);
    await owner.make('/variable-sets', { name: 'Wombat', team_id: team });
    const visitor = await signInVisitor(api, owner);
    const root = await api.addUser('admin');
    const turn = (variable_sets: object) => root.patch('/admin/settings', { features: { variable_sets } });
    const isNamed = async () => (await visitor.get('/audit')).text.includes('>Wombat<');
    expect(await isNamed()).toBe(true);
    expect((await turn({ enabled: false, reason: 'a test' })).status).toBe(200);
    expect(await isNamed()).toBe(false);
    expect((await turn({ enabled: true })).status).toBe(200);
    expect(await isNamed()).toBe(true);
  });

  test('do not name the resources of old records to a user who has left', async () => {
    const tenant = await makeTenant(api);
    const former = await api.addUser('maintainer');
    await join(tenant, former, 'member', 'admin');
    await former.patch(`/projects/${tenant.project}`, { description: 'mine' });
    await tenant.owner.delete(`/organizations/${tenant.organization}/members/${former.id}`);
    await tenant.owner.patch(`/projects/${tenant.project}`, { name: 'Acquisition of Fabrikam' });
    const { text } = await (await signInVisitor(api, former)).get('/audit');
    expect(text).toContain(`…${tenant.project.slice(-8)}`);
    expect(text).not.toContain('Fabrikam');
  });

  test('show changes, and reads only if the visitor selects them', async () => {
    const { owner, organization } = await makeTenant(api);
    const other = await makeTenant(api);
    expect((await owner.get(`/projects/${other.project}`)).status).toBe(404);
    const visitor = await signInVisitor(api, owner);
    const changes = await visitor.get('/audit');
    expect(changes.text).toContain('>project.created</a>');
    expect(changes.text).not.toContain('>projects.get</a>');
    const reads = await visitor.get('/audit?kind=read');
    expect(reads.text).toContain('>projects.get</a>');
    expect(reads.text).not.toContain('>project.created</a>');
    const id = /href="\/audit\/([0-9a-f-]+)[^"]*">projects\.get</.exec(reads.text)?.[1];
    const { actor, request_id } = (await owner.get(`/audit/${id}`)).body;
    for (const address of [
      '/audit?kind=all',
      '/audit?action=projects.get',
      `/audit?actor=${actor.id}`,
      `/audit?request_id=${request_id}`,
    ])
      expect((await visitor.get(address)).text, address).toContain('>projects.get</a>');
    const { body } = await owner.get(`/audit?kind=read&organization_id=${organization}`);
    expect(body.audit_records).toEqual([]);
  });

  test('offer the actions in groups by area, with changes and reads separated', async () => {
    const visitor = await signInVisitor(api, await api.addUser('requester'));
    const groupOf = (text: string, action: string) => {
      const before = text.slice(0, text.indexOf(`<option value="${action}"`));
      return /.*<optgroup label="([^"]*)"/s.exec(before)?.[1];
    };
    const { text } = await visitor.get('/audit?kind=all');
    expect(['project.created', 'projects.get', 'run.created'].map((action) => groupOf(text, action))).toEqual([
      'Projects',
      'Projects, reads',
      'Runs',
    ]);
    expect(await visitor.page('/audit')).not.toContain('<option value="projects.get"');
  });

  test('find the records of a resource by its name', async () => {
    const { owner, team, project } = await makeTenant(api);
    const named = await owner.make('/projects', { team_id: team, name: 'Kookaburra' });
    const visitor = await signInVisitor(api, owner);
    const { text } = await visitor.get('/audit?resource_type=projects&resource_id=kookaburra');
    expect(text).toContain(`href="/projects/${named.id}">Kookaburra</a>`);
    expect(text).not.toContain(`/projects/${project}`);
    expect(text).toContain('value="kookaburra"');
  });

  test('show nothing of tenants that the visitor does not administer', async () => {
    const { owner, organization, project } = await makeTenant(api);
    const visitor = await signInVisitor(api, await api.addUser('operator'));
    expect((await visitor.get(`/audit?resource_id=${project}`)).text).toContain('No records');
    expect((await visitor.get(`/audit?organization_id=${organization}`)).status).toBe(404);
    const { body } = await owner.get('/audit?action=project.created');
    expect((await visitor.get(`/audit/${body.audit_records[0].id}`)).status).toBe(404);
  });
});
