import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages } from '#api/web/paths.ts';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let visitor: Visitor;
let owner: ApiUser;
beforeAll(async () => {
  api = await startApi();
  ({ owner } = await makeTenant(api));
  visitor = await signInVisitor(api, owner);
});
afterAll(() => api.close());

describe('the address of a page', () => {
  test('has a route if it is declared', () => {
    const isServed = (url: string) => (['GET', 'POST'] as const).some((method) => api.app.hasRoute({ method, url }));
    expect(Object.values(pages).filter((url) => !isServed(url))).toEqual([]);
  });

  test.each(['/projects?team_id=abc', '/workloads/runs?organization_id=xx', '/audit?team_id=01', '/?team_id=x'])(
    '%s has an invalid id of a team or an organization, and answers 400',
    async (path) => {
      const { status, text } = await visitor.get(path);
      expect(status).toBe(400);
      expect(text).toContain('the address selects no');
    },
  );

  test.each(['/projects', '/service-accounts', '/workloads/runs', '/audit', '/environments', '/catalog'])(
    '%s with the id of a missing organization or team answers 404',
    async (path) => {
      const statuses = [];
      for (const name of ['organization_id', 'team_id'])
        statuses.push((await visitor.get(`${path}?${name}=${randomUUID()}`)).status);
      expect(statuses).toEqual([404, 404]);
    },
  );

  test('the address of a page with a trailing slash redirects to the page, and to no other host', async () => {
    const answers = [];
    for (const path of ['/workloads/runs/', '/projects//?team_id=x', '//evil.example/', '/api/v1/runs/', '/']) {
      const { status, location } = await visitor.get(path);
      answers.push([status, location]);
    }
    const [runs, projects, other, operation, home] = answers;
    expect([runs, projects]).toEqual([
      [303, '/workloads/runs'],
      [303, '/projects?team_id=x'],
    ]);
    expect(other?.[1]).toBeUndefined();
    expect(operation?.[1]).toBeUndefined();
    expect(home?.[0]).toBe(200);
  });

  test('an address that is not a valid URL or too long answers an HTML page to browsers and JSON to programs', async () => {
    for (const [path, expected] of [
      ['/workloads/runs/%zz', 400],
      [`/workloads/runs/${'a'.repeat(600)}`, 414],
    ] as const) {
      const { status, text, headers } = await visitor.get(path);
      expect([status, headers['content-type'], headers['content-security-policy']]).toEqual([
        expected,
        'text/html; charset=utf-8',
        expect.stringContaining("default-src 'none'"),
      ]);
      expect(text).toContain('<h1 id="title">This request is not valid</h1>');
      const program = await visitor.get(path, { accept: 'application/json' });
      expect(program.headers['content-type']).toContain('application/json');
    }
  });

  const withIds = Object.values(pages).filter((path) => /:id\b/.test(path));

  test.each([...withIds, '/workloads/runs/0/log/lines/:number'])(
    '%s with a text in place of an id answers 404',
    async (pattern) => {
      const url = pattern.replaceAll(/:\w+/g, 'NONSENSE');
      if (pattern.includes('/runs/0/') || api.app.hasRoute({ method: 'GET', url: pattern })) {
        const { status, text } = await visitor.get(url);
        expect(status).toBe(404);
        expect(text).not.toContain('UUID');
      }
      if (!api.app.hasRoute({ method: 'POST', url: pattern })) return;
      expect((await visitor.submit(url, {})).status).toBe(404);
    },
  );

  test('an address of the API with a repeated number answers 400 with a message about it', async () => {
    const { body, status } = await owner.get('/audit?limit=1&limit=2');
    expect([status, body.error]).toEqual([400, 'query parameter "limit" must be given only once']);
  });

  test.each([
    ['/catalog', 'Name or description'],
    ['/users', 'Name or e-mail address'],
    ['/search', 'Name, address, message, version, person or ID'],
    ['/workloads/resources', 'Address contains'],
  ])('%s with a text that is too long keeps the filters, and says what is wrong', async (path, label) => {
    const admin = await signInVisitor(api, await api.addUser('admin'));
    const long = 'long'.repeat(300);
    const { status, text } = await admin.get(`${path}?q=${long}`);
    expect(status).toBe(400);
    expect(text).toMatch(new RegExp(`<a href="#field-q">${label}</a>: Must have at most \\d+ characters\\.`));
    expect(text).toMatch(
      new RegExp(`<input[^>]* id="field-q"[^>]* value="${long}"|<input id="field-q"[^>]* value="${long}"`),
    );
  });

  test('an address that no page has answers a page with an explanation, and without the operations of the API', async () => {
    const { status, text } = await visitor.get('/workloads/nothing');
    expect(status).toBe(404);
    expect(text).toContain('No page has this address.');
    expect(text).not.toContain('lists every operation');
  });
});
