import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const newAddress = () => `${randomUUID()}@example.com`;

async function change(user: ApiUser, email = newAddress(), by = user) {
  const { status, text, body } = await by.put(`/users/${user.id}`, { email });
  expect(status, text).toBe(200);
  return body;
}

const isVerified = async (user: ApiUser) => (await user.get(`/users/${user.id}`)).body.email_verified;
const confirm = (user: ApiUser, body?: object) => admin.post(`/users/${user.id}/email-confirmation`, body);
const issue = (user: ApiUser) => admin.post(`/users/${user.id}/email-confirmation-token`);
const redeem = (user: ApiUser, token: string) => user.post('/profile/email-confirmation', { token });

async function invite(email: string): Promise<string> {
  const path = `/organizations/${tenant.organization}/invitations`;
  const { body, text } = await tenant.owner.post(path, { email, role: 'member' });
  expect(body.invitation, text).toBeDefined();
  return body.token;
}

describe('the address of a user', () => {
  it('is verified if an administrator created the user, and unverified after any change of the address', async () => {
    const password = 'long enough 1';
    const made = await admin.post('/users', { email: newAddress(), name: 'New', password, role: 'requester' });
    expect(made.body.email_verified).toBe(true);
    const user = await api.addUser('requester');
    expect(await isVerified(user)).toBe(true);
    expect((await change(user)).email_verified).toBe(false);
    const other = await api.addUser('requester');
    expect((await change(other, newAddress(), admin)).email_verified).toBe(false);
    expect((await admin.get(`/users?email=${user.email}`)).body.users).toEqual([]);
  });

  it('stays verified if only its case or another field changes', async () => {
    const user = await api.addUser('requester');
    expect((await change(user, user.email.toUpperCase())).email_verified).toBe(true);
    await user.put(`/users/${user.id}`, { name: 'Other' });
    expect(await isVerified(user)).toBe(true);
  });

  it('the address of a user that was changed back is still unverified', async () => {
    const user = await api.addUser('requester');
    await change(user);
    expect((await change(user, user.email)).email_verified).toBe(false);
  });
});

describe('an administrator', () => {
  it('confirms an address, which increases the revision and leaves an audit record', async () => {
    const user = await api.addUser('requester');
    const changed = await change(user);
    const { status, body, headers } = await confirm(user, { email: changed.email });
    expect([status, body.email_verified, body.revision]).toEqual([200, true, changed.revision + 1]);
    const { body: audit } = await admin.get(`/audit?request_id=${headers['x-request-id']}`);
    expect(audit.audit_records).toMatchObject([
      { action: 'user.email_confirmed', resource: { id: user.id }, after: { email_verified: true } },
    ]);
    expect((await confirm(user)).body.revision).toBe(body.revision);
  });

  it('confirms an address again, which is recorded as no change', async () => {
    const { headers } = await confirm(await api.addUser('requester'));
    const { body } = await admin.get(`/audit?request_id=${headers['x-request-id']}`);
    const unchanged = { email_verified: true };
    expect(body.audit_records).toMatchObject([{ before: unchanged, after: unchanged }]);
  });

  it('does not confirm an address that the user has changed in the meantime', async () => {
    const user = await api.addUser('requester');
    const { email, revision } = await change(user);
    await change(user);
    expect(await confirm(user, { email })).toMatchObject({
      status: 409,
      headers: { 'x-error-code': 'stale_revision' },
    });
    const path = `/users/${user.id}/email-confirmation`;
    expect((await admin.post(path, undefined, { 'if-match': `"${revision}"` })).status).toBe(409);
    expect(await isVerified(user)).toBe(false);
  });

  it('is needed to confirm an address without a token, which answers 403 to the user', async () => {
    const user = await api.addUser('operator');
    await change(user);
    for (const path of ['email-confirmation', 'email-confirmation-token'])
      expect((await user.post(`/users/${user.id}/${path}`)).status).toBe(403);
  });
});

describe('a token that confirms an address', () => {
  it('confirms the address of its user once', async () => {
    const user = await api.addUser('requester');
    const { email } = await change(user);
    const { status, body } = await issue(user);
    expect([status, body.email]).toEqual([201, email]);
    expect(await redeem(user, body.token)).toMatchObject({ status: 200, body: { email_verified: true } });
    expect((await redeem(user, body.token)).status).toBe(400);
    expect((await issue(user)).status).toBe(409);
  });

  it('is refused to another user, after another change of the address, or after a later token', async () => {
    const [user, other] = [await api.addUser('requester'), await api.addUser('requester')];
    const first = await change(user);
    await change(other);
    const { body: earlier } = await issue(user);
    expect((await redeem(other, earlier.token)).status).toBe(400);
    const { body: later } = await issue(user);
    expect((await redeem(user, earlier.token)).status).toBe(400);
    await change(user);
    expect((await redeem(user, later.token)).status).toBe(400);
    await change(user, first.email);
    expect((await redeem(user, later.token)).status).toBe(400);
    expect(await isVerified(user)).toBe(false);
  });

  it('is refused after it has expired', async () => {
    const user = await api.addUser('requester');
    await change(user);
    const { body } = await issue(user);
    await api.rows(`update email_confirmations set expires_at = now() - interval '1 second' where user_id = ?`, [
      user.id,
    ]);
    expect((await redeem(user, body.token)).status).toBe(400);
  });
});

describe('an invitation', () => {
  it('can be accepted only by a user whose address is confirmed', async () => {
    const user = await api.addUser('requester');
    const { email } = await change(user);
    const token = await invite(email);
    const accept = () => user.post('/invitations/accept', { token });
    expect(await accept()).toMatchObject({ status: 409, headers: { 'x-error-code': 'email_unverified' } });
    expect((await user.get('/auth/whoami')).body.organizations).toEqual([]);
    await confirm(user);
    expect((await accept()).status).toBe(200);
  });

  it('an invitation of another user stays hidden from users whose address is unverified', async () => {
    const user = await api.addUser('requester');
    await change(user);
    const token = await invite(newAddress());
    expect((await user.post('/invitations/accept', { token })).status).toBe(404);
  });
});
