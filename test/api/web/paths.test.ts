import { describe, expect, it } from 'vitest';
import { pagePath, pages } from '#api/web/paths.ts';

describe('the address of a page', () => {
  it('is the path of its route', () => {
    expect(pagePath(pages.profile)).toBe('/profile');
  });

  it('has its parameters percent-encoded in the path', () => {
    expect(pagePath(pages.revokeSession, { id: 'a/b c' })).toBe('/profile/sessions/a%2Fb%20c/revoke');
  });

  it('has its query percent-encoded, without undefined members', () => {
    const query = { next: '/runs?team=a&b', signed_out: undefined };
    expect(pagePath(pages.login, {}, query)).toBe('/login?next=%2Fruns%3Fteam%3Da%26b');
    expect(pagePath(pages.login, {}, { signed_out: undefined })).toBe('/login');
  });

  it('does not compile without the parameters of its path, or with a query value that its page does not know', () => {
    // @ts-expect-error the id is missing
    expect(pagePath(pages.revokeSession)).toContain('undefined');
    // @ts-expect-error the page has no notice for this value
    expect(pagePath(pages.project, { id: 'a' }, { done: 'deleted' })).toContain('done=deleted');
    // @ts-expect-error the parameter has another name
    expect(pagePath(pages.revokeSession, { key: 'a' })).toContain('undefined');
  });
});
