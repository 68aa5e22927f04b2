import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accept, sendInvitation } from '#test/support/access/invitations.ts';
import { acquaint, join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
let stranger: ApiUser;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  stranger = await api.addUser('maintainer', 'Stranger');
});
afterAll(() => api?.close());

const organizationPath = () => `/organizations/${tenant.organization}`;
const missing = () => randomUUID();

/** Expects the same refusal for an id that exists and for one that does not. */
async function expectHidden(ask: (id: string) => Promise<{ status: number; text: string; body: unknown }>, id: string) {
  const [there, nowhere] = [await ask(id), await ask(missing())];
  expect([there.status, there.body]).toEqual([nowhere.status, nowhere.body]);
  expect(there.text).not.toContain('Stranger');
  return there;
}

describe('a user who shares no organization with the caller', () => {
  test.each(['member', 'admin', 'owner'] as const)(
    'cannot be added to an organization as %s, and the response does not reveal that they exist',
    async (role) => {
      const put = (id: string) => tenant.owner.put(`${organizationPath()}/members/${id}`, { role });
      const answer = await expectHidden(put, stranger.id);
      expect(answer).toMatchObject({ status: 403, body: { error: expect.stringContaining('invitation') } });
      expect((await stranger.get(organizationPath())).status).toBe(404);
    },
  );

  test('cannot be made the owner of an organization by its transfer', async () => {
    const transfer = (id: string) => tenant.owner.post(`${organizationPath()}/transfer`, { new_owner_user_id: id });
    expect((await expectHidden(transfer, stranger.id)).status).toBe(403);
    await api.rows('update principals set enabled = false where id = ?', [stranger.id]);
    expect((await expectHidden(transfer, stranger.id)).status).toBe(403);
    await api.rows('update principals set enabled = true where id = ?', [stranger.id]);
  });

  test('cannot become the owner of a service account', async () => {
    const account = await tenant.owner.make('/service-accounts', {
      name: 'deploy',
      role: 'requester',
      owner: { user_id: tenant.owner.id },
    });
    const transfer = (id: string) =>
      tenant.owner.post(`/service-accounts/${account.id}/transfer`, { owner: { user_id: id } });
    expect((await expectHidden(transfer, stranger.id)).status).toBe(403);
  });

  test('cannot be added to a team, and an admin of the team gets the same response for the role owner', async () => {
    const admin = await api.addUser('maintainer');
    await join(tenant, admin, 'member', 'admin');
    for (const role of ['member', 'owner']) {
      const put = (id: string) => admin.put(`${tenant.teamPath}/members/${id}`, { role });
      expect((await expectHidden(put, stranger.id)).status).toBe(409);
    }
  });

  test('joins by an invitation', async () => {
    const guest = await api.addUser('requester');
    const { token } = await sendInvitation(tenant.owner, organizationPath(), { email: guest.email, role: 'member' });
    expect((await accept(guest, token)).status).toBe(200);
    const promoted = await tenant.owner.put(`${organizationPath()}/members/${guest.id}`, { role: 'admin' });
    expect(promoted).toMatchObject({ status: 200, body: { role: 'admin' } });
  });
});

describe('a user can be added without an invitation', () => {
  const add = (by: ApiUser, id: string) => by.put(`${organizationPath()}/members/${id}`, { role: 'member' });

  test('a user can be added without an invitation while they share another organization with the caller, and no longer', async () => {
    const colleague = await api.addUser('requester', 'Colleague');
    const part = await acquaint(tenant.owner, colleague);
    expect(await add(tenant.owner, colleague.id)).toMatchObject({ status: 200, body: { name: 'Colleague' } });
    await tenant.owner.delete(`${organizationPath()}/members/${colleague.id}`);
    await part();
    expect((await add(tenant.owner, colleague.id)).status).toBe(403);
  });

  test('a user cannot be added without an invitation once the organization that they share was deleted', async () => {
    const colleague = await api.addUser('requester');
    await acquaint(tenant.owner, colleague);
    await api.rows(
      `update organizations set deleted_at = now() where id in
         (select organization_id from organization_members where principal_id = ?)`,
      [colleague.id],
    );
    expect((await add(tenant.owner, colleague.id)).status).toBe(403);
  });

  test('callers who manage users can add a user without an invitation', async () => {
    const user = await api.addUser('requester');
    expect((await add(await api.addUser('admin'), user.id)).status).toBe(200);
  });
});

describe('a service account that the caller may not read', () => {
  const makeAccount = (owner: ApiUser, of: object) =>
    owner.make('/service-accounts', { name: 'Stranger bot', role: 'maintainer', owner: of });

  test('cannot be added to an organization, not even by a platform administrator', async () => {
    const other = await makeTenant(api);
    const accounts = [
      await makeAccount(stranger, { user_id: stranger.id }),
      await makeAccount(other.owner, { team_id: other.team }),
    ];
    for (const { id } of accounts) {
      const put = (each: string) => tenant.owner.put(`${organizationPath()}/members/${each}`, { role: 'member' });
      expect((await expectHidden(put, id)).status).toBe(403);
    }
    const root = await api.addUser('admin');
    const byRoot = (id: string) => root.put(`${organizationPath()}/members/${id}`, { role: 'member' });
    expect((await expectHidden(byRoot, accounts[0]?.id ?? '')).status).toBe(403);
  });

  test('cannot be added to a team, and the answer does not reveal its role', async () => {
    const { id } = await makeAccount(stranger, { user_id: stranger.id });
    const put = (each: string) => tenant.owner.put(`${tenant.teamPath}/members/${each}`, { role: 'viewer' });
    expect((await expectHidden(put, id)).status).toBe(409);
  });

  test('can be added by its owner, who administers the organization, and others may then change its membership', async () => {
    const owner = await api.addUser('maintainer');
    await join(tenant, owner, 'admin');
    const { id } = await makeAccount(owner, { user_id: owner.id });
    expect((await owner.put(`${organizationPath()}/members/${id}`, { role: 'member' })).status).toBe(200);
    expect((await tenant.owner.put(`${tenant.teamPath}/members/${id}`, { role: 'admin' })).status).toBe(200);
    expect((await tenant.owner.put(`${organizationPath()}/members/${id}`, { role: 'member' })).status).toBe(200);
  });
});
