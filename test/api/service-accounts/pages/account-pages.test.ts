import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const keyIn = (text: string) => /\bdc_[0-9A-Za-z]{49}\b/.exec(text)?.[0] ?? '';

async function statusWith(key: string): Promise<number> {
  const answer = await api.app.inject({ url: '/api/v1/auth/whoami', headers: { 'x-api-key': key } });
  return answer.statusCode;
}

describe('the pages of service accounts', () => {
  test('create an account and its key, which is shown once, rotated and revoked', async () => {
    const { owner, team } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    const made = await visitor.submit('/service-accounts/new', { name: 'Nightly', role: 'requester', owner: team });
    expect(made.status, made.text).toBe(303);
    const path = made.location?.split('?')[0] ?? '';
    const issued = await visitor.submit(
      `${path}/api-keys`,
      { name: 'ci', expires_at: '' },
      { 'accept-encoding': 'gzip' },
    );
    expect([issued.status, issued.location]).toEqual([201, undefined]);
    expect(issued.headers['cache-control']).toContain('no-store');
    expect(issued.headers['content-encoding']).toBeUndefined();
    const key = keyIn(issued.text);
    expect(await statusWith(key)).toBe(200);
    const page = await visitor.get(path);
    expect(page.text).toContain(key.slice(-4));
    expect(page.text).not.toContain(key);

    const rotation = /\/service-accounts\/[0-9a-f-]+\/api-keys\/[0-9a-f-]+\/rotate/.exec(page.text)?.[0] ?? '';
    const rotated = await visitor.submit(rotation, { overlap: 'PT0S' });
    expect(await statusWith(key)).toBe(401);
    const second = keyIn(rotated.text);
    expect(await statusWith(second)).toBe(200);
    const newest = /\/service-accounts\/[0-9a-f-]+\/api-keys\/[0-9a-f-]+\/revoke/.exec(
      (await visitor.get(path)).text,
    )?.[0];
    expect((await visitor.submit(newest ?? '', {})).status).toBe(303);
    expect(await statusWith(second)).toBe(401);
  });

  test('refuse a new account without owner and name, with each problem once', async () => {
    const visitor = await signInVisitor(api, await api.addUser('maintainer'));
    const sent = await visitor.submit('/service-accounts/new', { name: '', role: 'requester', owner: '' });
    expect(sent.status).toBe(400);
    expect(sent.text).toMatch(/>Name<\/a>: /);
    expect(sent.text.match(/>Owner<\/a>: [^<]*/g)).toEqual(['>Owner</a>: Choose the owner.']);
  });

  test('disable, enable, rename and delete an account', async () => {
    const owner = await api.addUser('maintainer');
    const visitor = await signInVisitor(api, owner);
    const made = await visitor.submit('/service-accounts/new', { name: 'Mine', role: 'requester', owner: 'me' });
    const path = made.location?.split('?')[0] ?? '';
    await visitor.submit(`${path}/disable`, {});
    expect((await visitor.get('/service-accounts?enabled=false')).text).toContain('Mine');
    await visitor.submit(`${path}/enable`, {});
    expect(await visitor.page('/service-accounts?enabled=false')).not.toContain('Mine');
    const revision = (await owner.get(path)).body.revision;
    const renamed = { name: 'Renamed', role: 'requester', expected_revision: String(revision) };
    expect((await visitor.submit(`${path}/edit`, renamed)).status).toBe(303);
    expect((await visitor.submit(`${path}/delete`, {})).location).toBe('/service-accounts?done=deleted');
  });

  test("say that a user's account without teams sees nothing, link to the form that adds it, and name its teams", async () => {
    const { owner, organization, team, teamPath } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    const made = await visitor.submit('/service-accounts/new', { name: 'CI', role: 'requester', owner: 'me' });
    const path = made.location?.split('?')[0] ?? '';
    const id = path.split('/').at(-1) ?? '';
    const join = `/organizations/${organization}/members?user_id=${id}#add`;
    const alone = (await visitor.get(path)).text;
    expect(alone).toContain('It is a member of no team, so it sees nothing.');
    expect(alone).toContain(`href="${join}"`);
    expect((await visitor.get(join.replace('#add', ''))).text).toContain(`value="${id}"`);
    await owner.put(`/organizations/${organization}/members/${id}`, { role: 'member' });
    expect((await visitor.get(path)).text).toContain('It is a member of an organization already');
    await owner.put(`/organizations/${organization}/teams/${team}/members/${id}`, { role: 'member' });
    const joined = (await visitor.get(path)).text;
    expect(joined).not.toContain('sees nothing');
    expect(joined).toMatch(new RegExp(`<h2 id="memberships">Teams</h2>[\\s\\S]*href="${teamPath}"`));
  });

  test('are refused to visitors who may not read service accounts', async () => {
    const visitor = await signInVisitor(api, await api.addUser('requester'));
    expect((await visitor.get('/service-accounts')).status).toBe(403);
  });
});

describe('the keys of a user', () => {
  test('are created, rotated with an overlap and revoked on pages', async () => {
    const user = await api.addUser('requester');
    const visitor = await signInVisitor(api, user);
    const issued = await visitor.submit('/profile/api-keys', { name: 'laptop', expires_at: '2099-01-01T00:00' });
    const key = keyIn(issued.text);
    expect([issued.status, await statusWith(key)]).toEqual([201, 200]);
    const { body } = await user.get('/profile/api-keys');
    const { id, expires_at: expires } = body.api_keys.find(({ name }: { name: string }) => name === 'laptop');
    expect(expires).toBe('2099-01-01T00:00:00.000Z');
    const rotated = await visitor.submit(`/profile/api-keys/${id}/rotate`, { overlap: 'PT1H' });
    expect([rotated.status, await statusWith(keyIn(rotated.text)), await statusWith(key)]).toEqual([201, 200, 200]);
    const bad = await visitor.submit('/profile/api-keys', { name: 'late', expires_at: 'tomorrow' });
    expect([bad.status, bad.text.includes('id="field-expires_at-problem"')]).toEqual([400, true]);
  });
});
