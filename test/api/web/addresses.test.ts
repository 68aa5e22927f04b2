import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  const { owner } = await makeTenant(api);
  visitor = await signInVisitor(api, owner);
});
afterAll(() => api.close());

describe('the address of a page', () => {
  test.each(['/projects?team_id=abc', '/workloads/runs?organization_id=xx', '/audit?team_id=01', '/?team_id=x'])(
    '%s selects no team or organization, so it is refused instead of showing everything',
    async (path) => {
      const { status, text } = await visitor.get(path);
      expect(status).toBe(400);
      expect(text).toContain('the address selects no');
    },
  );

  test('that no page has is said in words for people, without the operations of the API', async () => {
    const { status, text } = await visitor.get('/workloads/nothing');
    expect(status).toBe(404);
    expect(text).toContain('No page has this address.');
    expect(text).not.toContain('lists every operation');
  });
});
