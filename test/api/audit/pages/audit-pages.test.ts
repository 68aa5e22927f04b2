import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listChanges } from '#api/audit/pages/changes.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

describe('the values before and after', () => {
  test('are listed by path, with lists whole', () => {
    const before = { owner: { team_id: 'a', user_id: null }, tags: ['x'], gone: true };
    const after = { owner: { team_id: 'b', user_id: null }, tags: ['x', 'y'], more: {} };
    expect(listChanges(before, after)).toEqual([
      { path: 'owner.team_id', before: 'a', after: 'b' },
      { path: 'owner.user_id', before: null, after: null },
      { path: 'tags', before: ['x'], after: ['x', 'y'] },
      { path: 'gone', before: true, after: undefined },
      { path: 'more', before: undefined, after: {} },
    ]);
    expect(listChanges(null, null)).toEqual([]);
  });
});

describe('the pages of the audit', () => {
  test('show the history of one thing, and a record with its values and a link', async () => {
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

  test('say what is wrong with a filter, and show the form again', async () => {
    const visitor = await signInVisitor(api, await api.addUser('requester'));
    const wrong = await visitor.get('/audit?resource_type=NOT%20A%20NAME');
    expect([wrong.status, wrong.text.includes('value="NOT A NAME"')]).toEqual([400, true]);
    const none = await visitor.get('/audit?resource_id=nothing');
    expect([none.status, none.text.includes('No records')]).toEqual([200, true]);
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
