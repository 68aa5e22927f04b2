import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const keys = '/profile/api-keys';
const regenerate = '/profile/api-key/regenerate';
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** A user with a session, which changes of keys do not end. */
async function signedIn(role: 'requester' | 'maintainer' = 'requester'): Promise<ApiUser> {
  return api.signIn(await api.addUser(role));
}

const by = (user: ApiUser, key: string) => new ApiUser(api, { 'x-api-key': key }, user);
const works = async (user: ApiUser, key: string) => (await by(user, key).get('/auth/whoami')).status === 200;

async function make(user: ApiUser, body: object = {}, path = keys) {
  const answer = await user.post(path, path === keys ? { name: 'ci', ...body } : body);
  expect(answer.status, answer.text).toBe(201);
  return { id: answer.body.api_key.id as string, key: answer.body.key as string, view: answer.body.api_key };
}

describe('a key that expires', () => {
  /** A user's key that expires in an hour, and the user with that key. */
  async function expiring(role: 'requester' | 'maintainer' = 'requester') {
    const user = await signedIn(role);
    const made = await make(user, { expires_at: inHours(1) });
    return { user, ...made, holder: by(user, made.key) };
  }
  const refusal = { status: 403, body: { error: expect.stringContaining('outlives') } };

  it('may create only keys that expire before itself', async () => {
    const { holder } = await expiring();
    for (const path of [keys, regenerate])
      for (const expires_at of [undefined, inHours(2)])
        expect(await holder.post(path, { ...(path === keys && { name: 'ci' }), expires_at })).toMatchObject(refusal);
    await make(holder, { expires_at: inHours(0.5) });
    await make(holder, { expires_at: inHours(0.5) }, regenerate);
  });

  it('is refused a longer regeneration of itself, and stays valid', async () => {
    const user = await signedIn();
    const profile = await make(user, { expires_at: inHours(1) }, regenerate);
    expect(await by(user, profile.key).post(regenerate, {})).toMatchObject(refusal);
    expect(await works(user, profile.key)).toBe(true);
  });

  it('may rotate itself and others only to keys that expire when it does', async () => {
    const { user, id, holder, view } = await expiring();
    const lasting = await make(user);
    for (const each of [lasting.id, id]) {
      const { status, body } = await holder.post(`${keys}/${each}/rotate`, { overlap: 'PT1H' });
      expect(status).toBe(201);
      expect(Date.parse(body.api_key.expires_at)).toBeLessThanOrEqual(Date.parse(view.expires_at));
    }
  });

  it('may not issue a key to a service account that expires later', async () => {
    const { user, holder } = await expiring('maintainer');
    const account = await user.make('/service-accounts', {
      name: 'deploy',
      role: 'requester',
      owner: { user_id: user.id },
    });
    const path = `/service-accounts/${account.id}/api-keys`;
    for (const expires_at of [undefined, inHours(2)])
      expect(await holder.post(path, { name: 'ci', expires_at })).toMatchObject(refusal);
    const lasting = await user.post(path, { name: 'ci' });
    const { status, body } = await holder.post(`${path}/${lasting.body.api_key.id}/rotate`);
    expect([status, Date.parse(body.api_key.expires_at) <= Date.parse(inHours(1))]).toEqual([201, true]);
  });

  it('may not set a password, which would never expire', async () => {
    const admin = await api.signIn(await api.addUser('admin'));
    const holder = by(admin, (await make(admin, { expires_at: inHours(1) })).key);
    const lasting = by(admin, (await make(admin)).key);
    const user = await api.addUser('requester');
    const person = { name: 'New', role: 'requester', password: 'correct horse battery' };
    const requests = (caller: ApiUser, email: string) => [
      () => caller.post('/users', { ...person, email }),
      () => caller.put(`/users/${user.id}`, { password: 'staple battery horse' }),
      () => caller.post(`/users/${user.id}/password-reset`),
    ];
    for (const send of requests(holder, 'by-key@example.com')) {
      const refused = await send();
      expect(refused).toMatchObject(refusal);
      expect(refused.body.error).toContain('never expires');
    }
    expect((await api.signIn(user)).id).toBe(user.id);
    expect((await holder.put(`/users/${user.id}`, { name: 'Renamed' })).status).toBe(200);
    for (const caller of [admin, lasting])
      for (const send of requests(caller, `by-${crypto.randomUUID()}@example.com`))
        expect((await send()).status).toBeLessThan(300);
  });

  it('may send only invitations that expire before itself', async () => {
    const tenant = await makeTenant(api);
    const owner = await api.signIn(tenant.owner);
    const holder = by(owner, (await make(owner, { expires_at: inHours(2) })).key);
    for (const path of [`/organizations/${tenant.organization}/invitations`, `${tenant.teamPath}/invitations`]) {
      const invite = (caller: ApiUser, expires_in?: string) =>
        caller.post(path, { email: `${crypto.randomUUID()}@example.com`, expires_in });
      for (const refused of [await invite(holder), await invite(holder, 'PT3H')])
        expect(refused).toMatchObject({ status: 403, body: { error: expect.stringContaining('expires_in') } });
      const sent = await invite(holder, 'PT1H');
      expect(sent.status, sent.text).toBe(201);
      expect((await holder.post(`${path}/${sent.body.invitation.id}/resend`)).status).toBe(200);
      const long = await invite(owner);
      expect(await holder.post(`${path}/${long.body.invitation.id}/resend`)).toMatchObject(refusal);
    }
  });

  it('does not limit what its user creates with a session or with a key that never expires', async () => {
    const { user } = await expiring();
    const { key } = await make(user);
    await make(by(user, key));
  });
});
