import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillPath } from '#api/pipeline/answers/location.ts';
import { pages } from '#api/web/paths.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  visitor = new Visitor(api.app);
});
afterAll(() => api.close());

const id = '01890000-0000-7000-8000-000000000001';
const params = {
  id,
  orgID: id,
  userID: id,
  keyID: id,
  invitationID: id,
  name: 'x',
  version: '1.0.0',
  number: '1',
  serial: '1',
};
/** The start page redirects to the sign-in page without `next`. Visitors who are not signed in need the other pages. */
const open: readonly string[] = [
  pages.home,
  pages.login,
  pages.passwordReset,
  pages.acceptInvitation,
  pages.confirmOwnEmail,
];

describe('a request without a session', () => {
  test.each(Object.values(pages).filter((pattern) => !open.includes(pattern)))(
    'for %s leads to the sign-in page',
    async (pattern) => {
      if (!api.app.hasRoute({ method: 'GET', url: pattern })) return;
      const path = fillPath(pattern, params);
      const { status, location } = await visitor.get(path);
      expect([status, location]).toEqual([303, `/login?next=${encodeURIComponent(path)}`]);
    },
  );
});

describe('a form that was sent after the session had ended', () => {
  const comments = `/workloads/runs/${id}/comments`;
  const signIn = async (url: string, headers: Record<string, string> = {}) => {
    const { status, text } = await visitor.submit(url, { text: 'Looks good' }, headers);
    expect(status).toBe(401);
    expect(text).toContain('Your session has ended.');
    expect(text).toContain('name="password"');
    return /name="next" value="([^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? 'no way back';
  };

  test('a form that was sent after the session had ended, and has no page of its own, leads back to the page that it stood on', async () => {
    const referer = `http://localhost/workloads/runs/${id}?tab=plan&done=commented`;
    expect(await signIn(comments, { referer })).toBe(`/workloads/runs/${id}?tab=plan`);
  });

  test('a form that was sent after the session had ended, and has a page of its own, leads back to that page', async () => {
    expect(await signIn('/projects/new?team_id=a')).toBe('/projects/new?team_id=a');
  });

  test.each(['https://evil.example//evil.example/', 'nonsense', `http://localhost${comments}`])(
    'does not lead to the referrer %s, which is not a page of the service',
    async (referer) => {
      expect(await signIn(comments, { referer })).toBe('no way back');
    },
  );

  test('a review that was sent after the session had ended leads back to the plan', async () => {
    const user = await api.addUser('requester');
    const signedIn = new Visitor(api.app);
    await signedIn.submit('/login', { email: user.email, password: 'correct horse battery', next: '' });
    const { location } = await signedIn.get(`/workloads/runs/${id}/review`);
    expect(location).toBe(`/workloads/runs/${id}?tab=plan#review`);
  });
});
