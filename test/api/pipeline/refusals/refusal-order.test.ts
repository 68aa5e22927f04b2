import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addServiceAccount } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** A caller without the authority gets 403 even if a stale revision or an archived owner would answer 409 to others. */
let api: TestApi;
let tenant: Tenant;
/** An admin of the organization and of the team: only its owners have more authority. */
let below: ApiUser;
const stale = { expected_revision: 99 };

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());
beforeEach(async () => {
  tenant = await makeTenant(api);
  below = await api.addUser('maintainer');
  await join(tenant, below, 'admin', 'admin');
});

const archive = async (path: string) => {
  const { status, text } = await tenant.owner.post(`${path}/archive`);
  expect(status, text).toBe(200);
};
const organizationPath = () => `/organizations/${tenant.organization}`;

describe('setting a membership role above one’s own answers 403', () => {
  it('setting a membership role above one’s own answers 403 in an archived organization', async () => {
    const path = `${organizationPath()}/members/${below.id}`;
    await archive(organizationPath());
    expect(await below.put(path, { role: 'owner' })).toMatchObject({ status: 403 });
    expect(await tenant.owner.put(path, { role: 'owner' })).toMatchObject({ status: 409 });
  });

  it('setting a membership role above one’s own answers 403 in an archived team', async () => {
    const path = `${tenant.teamPath}/members/${below.id}`;
    const teamAdmin = await api.addUser('maintainer');
    await join(tenant, teamAdmin, 'member', 'admin');
    await archive(tenant.teamPath);
    expect(await teamAdmin.put(path, { role: 'owner' })).toMatchObject({ status: 403 });
    expect(await tenant.owner.put(path, { role: 'owner' })).toMatchObject({ status: 409 });
  });
});

describe('an invitation to a role above one’s own answers 403', () => {
  it('an invitation to a role above one’s own answers 403 when it is sent in an archived organization', async () => {
    const offer = { email: 'new@example.com', role: 'owner' };
    await archive(organizationPath());
    expect(await below.post(`${organizationPath()}/invitations`, offer)).toMatchObject({ status: 403 });
    expect(await tenant.owner.post(`${organizationPath()}/invitations`, offer)).toMatchObject({ status: 409 });
  });

  it('an invitation to a role above one’s own answers 403 when it is sent for a team that this address may not join', async () => {
    const teamAdmin = await api.addUser('maintainer');
    await join(tenant, teamAdmin, 'member', 'admin');
    const offer = { email: 'nobody@example.com', role: 'owner' };
    expect(await teamAdmin.post(`${tenant.teamPath}/invitations`, offer)).toMatchObject({ status: 403 });
    const milder = { ...offer, role: 'member' };
    expect(await teamAdmin.post(`${tenant.teamPath}/invitations`, milder)).toMatchObject({ status: 409 });
  });

  it('an invitation to a role above one’s own answers 403 when it is revoked again, or sent again after its revocation', async () => {
    const offer = { email: 'gone@example.com', role: 'owner' };
    const { body } = await tenant.owner.post(`${organizationPath()}/invitations`, offer);
    const path = `${organizationPath()}/invitations/${body.invitation?.id ?? body.id}`;
    expect((await tenant.owner.delete(path)).status).toBe(204);
    expect(await below.delete(path)).toMatchObject({ status: 403 });
    expect(await below.post(`${path}/resend`)).toMatchObject({ status: 403 });
    expect(await tenant.owner.delete(path)).toMatchObject({ status: 409 });
  });
});

describe('a transfer to an owner that the caller may not transfer to answers 403', () => {
  it('a transfer of an organization to an unknown user, with a stale revision, answers 403', async () => {
    const body = { new_owner_user_id: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11', ...stale };
    expect(await tenant.owner.post(`${organizationPath()}/transfer`, body)).toMatchObject({ status: 403 });
  });

  it('a transfer of a service account to a team that the caller does not own, with a stale revision, answers 403', async () => {
    const account = await addAccount('requester', { userId: below.id });
    const body = { owner: { team_id: tenant.team }, ...stale };
    expect(await below.post(`/service-accounts/${account.id}/transfer`, body)).toMatchObject({ status: 403 });
    const own = { owner: { user_id: below.id }, ...stale };
    expect(await below.post(`/service-accounts/${account.id}/transfer`, own)).toMatchObject({ status: 409 });
  });
});

describe('raising a service account above the caller’s authority answers 403', () => {
  it('a role of a service account above the caller’s, with a stale revision, answers 403', async () => {
    const account = await addAccount('requester', { userId: below.id });
    const path = `/service-accounts/${account.id}`;
    expect(await below.patch(path, { role: 'admin', ...stale })).toMatchObject({ status: 403 });
    expect(await below.patch(path, { role: 'maintainer', ...stale })).toMatchObject({ status: 409 });
  });

  it('a new key for a service account above the caller’s authority, or enabling it, answers 403 in an archived team', async () => {
    const admin = await api.addUser('admin');
    const account = await addAccount('admin', { teamId: tenant.team });
    const path = `/service-accounts/${account.id}`;
    expect((await tenant.owner.post(`${path}/disable`)).status).toBe(200);
    await archive(tenant.teamPath);
    expect(await tenant.owner.post(`${path}/enable`)).toMatchObject({ status: 403 });
    expect(await tenant.owner.post(`${path}/api-keys`, { name: 'ci' })).toMatchObject({ status: 403 });
    expect(await admin.post(`${path}/enable`)).toMatchObject({ status: 409 });
  });
});

async function addAccount(role: 'requester' | 'admin', owner: { userId: string } | { teamId: string }) {
  const { key, id } = await addServiceAccount({ url: '', orm: api.services.orm }, role, {}, owner);
  return new ApiUser(api, { 'x-api-key': key }, { id, email: '' });
}
