import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api.close());

interface Described {
  readonly name: string;
  readonly allowed: boolean;
  readonly reason: string | null;
}

/** The reason why each action of the resource at a path is refused, by the action's name; null if it is allowed. */
async function reasonsOf(caller: ApiUser, path: string): Promise<Record<string, string | null>> {
  const { status, body, text } = await caller.get(path);
  expect(status, text).toBe(200);
  return Object.fromEntries((body.actions as Described[]).map(({ name, reason }) => [name, reason]));
}

const memberPath = ({ id }: ApiUser) => `/organizations/${tenant.organization}/members/${id}`;

describe('the actions of a membership', () => {
  test('are refused for the last owner of an organization with the same reason as by the operations', async () => {
    const { owner } = tenant;
    const reasons = await reasonsOf(owner, memberPath(owner));
    expect(reasons).toEqual({
      change_role: 'this is the last owner of the organization: make another member an owner first',
      remove: 'this is the last owner of the organization: make another member an owner first',
    });
    const changed = await owner.put(memberPath(owner), { role: 'admin' });
    expect([changed.status, changed.body.error]).toEqual([409, reasons['change_role']]);
    const removed = await owner.send('DELETE', memberPath(owner));
    expect([removed.status, removed.body.error]).toEqual([409, reasons['remove']]);
  });

  test('let a member leave, and not change other members', async () => {
    const [member, other] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    await join(tenant, member, 'member');
    await join(tenant, other, 'member');
    const own = await reasonsOf(member, memberPath(member));
    expect(own['remove']).toBeNull();
    expect(own['change_role']).toMatch(/organization role admin/);
    const others = await reasonsOf(member, memberPath(other));
    const refused = await member.send('DELETE', memberPath(other));
    expect([refused.status, refused.body.error]).toEqual([403, others['remove']]);
    expect((await member.send('DELETE', memberPath(member))).status).toBe(204);
  });

  test('do not let an admin change an owner', async () => {
    const admin = await api.addUser('maintainer');
    await join(tenant, admin, 'admin');
    const reasons = await reasonsOf(admin, memberPath(tenant.owner));
    expect(reasons['change_role']).toMatch(/the organization role owner is above your own/);
    const refused = await admin.put(memberPath(tenant.owner), { role: 'member' });
    expect([refused.status, refused.body.error]).toEqual([403, reasons['change_role']]);
    expect(reasons['remove']).toBe(reasons['change_role']);
  });

  test('let a service account have only the role that its platform role allows, as the operation does', async () => {
    const account = await tenant.owner.make('/service-accounts', {
      name: 'Deployer',
      role: 'requester',
      owner: { user_id: tenant.owner.id },
    });
    const set = await tenant.owner.put(memberPath(account as unknown as ApiUser), { role: 'member' });
    expect(set.status, set.text).toBe(200);
    const described = set.body.actions as Described[];
    expect(described.map(({ name, allowed }) => [name, allowed])).toEqual([
      ['change_role', false],
      ['remove', true],
    ]);
    expect(described[0]?.reason).toMatch(/can only have the role member/);
  });

  test('a list of memberships has no actions', async () => {
    const list = await tenant.owner.get(`/organizations/${tenant.organization}/members`);
    expect(list.body.members[0]).not.toHaveProperty('actions');
  });
});

describe('the actions of an invitation', () => {
  test('are refused once it has ended, and depend on the roles that its sender may offer', async () => {
    const { owner, organization } = tenant;
    const path = `/organizations/${organization}/invitations`;
    const sent = await owner.post(path, { email: 'new@example.com', role: 'owner' });
    expect(sent.status, sent.text).toBe(201);
    const { id } = sent.body.invitation;
    expect(await reasonsOf(owner, `${path}/${id}`)).toEqual({ resend: null, revoke: null });
    const admin = await api.addUser('maintainer');
    await join(tenant, admin, 'admin');
    const ofAdmin = await reasonsOf(admin, `${path}/${id}`);
    expect(ofAdmin['resend']).toMatch(/offers a role that you cannot grant/);
    const refused = await admin.send('DELETE', `${path}/${id}`);
    expect([refused.status, refused.body.error]).toEqual([403, ofAdmin['revoke']]);
    expect((await owner.send('DELETE', `${path}/${id}`)).status).toBe(204);
    const ended = await reasonsOf(owner, `${path}/${id}`);
    const again = await owner.post(`${path}/${id}/resend`);
    expect([again.status, again.body.error]).toEqual([409, ended['resend']]);
  });

  test('have a reason if the team is archived or the address has joined meanwhile', async () => {
    const { owner, teamPath, organization } = tenant;
    const joiner = await api.addUser('maintainer');
    const path = `/organizations/${organization}/invitations`;
    const sent = await owner.post(path, { email: joiner.email, role: 'member', team_id: tenant.team });
    const invitation = `${path}/${sent.body.invitation.id}`;
    await owner.post(`${teamPath}/archive`);
    const archived = await reasonsOf(owner, invitation);
    const refused = await owner.post(`${invitation}/resend`);
    expect([refused.status, refused.body.error]).toEqual([409, archived['resend']]);
    expect(archived['revoke']).toBeNull();
    await owner.post(`${teamPath}/unarchive`);
    await join(tenant, joiner, 'member', 'member');
    const joined = await reasonsOf(owner, invitation);
    const again = await owner.post(`${invitation}/resend`);
    expect([again.status, again.body.error]).toEqual([409, joined['resend']]);
  });
});

describe('the actions of an API key', () => {
  test("depend on its state, for a key of one's own", async () => {
    const user = await api.addUser('requester');
    const made = await user.post('/profile/api-keys', { name: 'mine' });
    const path = `/profile/api-keys/${made.body.api_key.id}`;
    expect(await reasonsOf(user, path)).toEqual({ rotate: null, revoke: null });
    await user.post(`${path}/rotate`, { overlap: 'PT1H' });
    const rotated = await reasonsOf(user, path);
    const again = await user.post(`${path}/rotate`);
    expect([again.status, again.body.error]).toEqual([409, rotated['rotate']]);
    await user.send('DELETE', path);
    const revoked = await reasonsOf(user, path);
    const twice = await user.send('DELETE', path);
    expect([twice.status, twice.body.error]).toEqual([409, revoked['revoke']]);
    const profile = await user.post('/profile/api-key/regenerate');
    const ofProfile = await reasonsOf(user, `/profile/api-keys/${profile.body.api_key.id}`);
    expect(ofProfile).toEqual({ rotate: 'this is the profile key: regenerate it instead', revoke: null });
  });

  test('are shown only to those who may manage the account', async () => {
    const { owner } = tenant;
    const own = { owner: { user_id: owner.id }, role: 'maintainer' };
    const account = await owner.make('/service-accounts', { ...own, name: 'Keyed' });
    const made = await owner.post(`/service-accounts/${account.id}/api-keys`, { name: 'deploy' });
    const path = `/service-accounts/${account.id}/api-keys/${made.body.api_key.id}`;
    expect(await reasonsOf(owner, path)).toEqual({ rotate: null, revoke: null });
    await api.rows(`update principals set role = 'requester' where id = ?`, [owner.id]);
    const { status } = await owner.get(path);
    await api.rows(`update principals set role = 'maintainer' where id = ?`, [owner.id]);
    expect(status).toBe(403);
  });
});
