import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const levels = ['organization', 'team'] as const;
type Level = (typeof levels)[number];
const pathOf = (level: Level, tenant: Tenant, id: string) =>
  `${level === 'team' ? tenant.teamPath : `/organizations/${tenant.organization}`}/members/${id}`;

async function addMember(tenant: Tenant, platform: 'requester' | 'maintainer' = 'requester'): Promise<ApiUser> {
  const user = await api.addUser(platform);
  await join(tenant, user, 'member', 'member');
  return user;
}

describe.each(levels)('the membership of one member of an %s', (level) => {
  it('can be read only by users who may list the members', async () => {
    const tenant = await makeTenant(api);
    const member = await addMember(tenant);
    const path = pathOf(level, tenant, member.id);
    const { status, body, headers } = await member.get(path);
    expect([status, headers['etag']]).toEqual([200, '"1"']);
    expect(body).toMatchObject({ user_id: member.id, role: 'member', revision: 1 });
    const stranger = await makeTenant(api);
    expect((await stranger.owner.get(path)).status).toBe(404);
    expect((await tenant.owner.get(pathOf(level, tenant, stranger.owner.id))).status).toBe(404);
  });

  it('is changed only if it has the revision in the request', async () => {
    const tenant = await makeTenant(api);
    const member = await addMember(tenant, 'maintainer');
    const path = pathOf(level, tenant, member.id);
    const raised = await tenant.owner.put(path, { role: 'admin', expected_revision: 1 });
    expect(raised.body).toMatchObject({ role: 'admin', revision: 2 });
    const stale = await tenant.owner.send('PUT', path, { role: 'member' }, { 'if-match': '"1"' });
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    const lowered = await tenant.owner.send('PUT', path, { role: 'member' }, { 'if-match': '"2"' });
    expect(lowered.body).toMatchObject({ role: 'member', revision: 3 });
    expect((await tenant.owner.put(path, { role: 'member' })).body.revision).toBe(3);
  });

  it('is ended only if it has the revision in the request', async () => {
    const tenant = await makeTenant(api);
    const member = await addMember(tenant);
    const path = pathOf(level, tenant, member.id);
    await tenant.owner.put(path, { role: level === 'team' ? 'viewer' : 'admin' });
    const stale = await tenant.owner.delete(path, { 'if-match': '"1"' });
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    expect((await member.get(path)).body).toMatchObject({ revision: 2 });
    expect((await tenant.owner.delete(path, { 'if-match': '"2"' })).status).toBe(204);
  });

  it('gets another id and a higher revision when the member joins again, so that no stale request ends it', async () => {
    const tenant = await makeTenant(api);
    const [admin, member] = [await api.addUser('admin'), await addMember(tenant)];
    const path = pathOf(level, tenant, member.id);
    const { id } = (await member.get(path)).body;
    const raised = await tenant.owner.put(path, { role: 'admin' });
    expect((await tenant.owner.delete(path)).status).toBe(204);
    const absent = await tenant.owner.put(path, { role: 'member', expected_revision: 2 });
    expect(absent.status).not.toBe(200);
    const joined = await admin.put(path, { role: 'admin' });
    expect(joined.body).toMatchObject({ revision: raised.body.revision + 1 });
    expect(joined.body.id).not.toBe(id);
    const stale = await tenant.owner.delete(path, { 'if-match': '"1"' });
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
  });
});

it('leaving an organization ends the memberships of its teams, which get a higher revision when the user joins again', async () => {
  const tenant = await makeTenant(api);
  const [admin, member] = [await api.addUser('admin'), await addMember(tenant)];
  const team = pathOf('team', tenant, member.id);
  const { revision } = (await tenant.owner.put(team, { role: 'viewer' })).body;
  await member.delete(pathOf('organization', tenant, member.id));
  for (const level of levels) await admin.put(pathOf(level, tenant, member.id), { role: 'member' });
  expect((await member.get(team)).body.revision).toBe(revision + 1);
});

describe.each(levels)('leaving an %s', (level) => {
  it('requires no right to manage members, and ends the rights of the membership', async () => {
    const tenant = await makeTenant(api);
    const member = await addMember(tenant);
    expect((await member.delete(pathOf(level, tenant, member.id))).status).toBe(204);
    expect((await member.get(tenant.teamPath)).status).toBe(404);
    const again = await member.delete(pathOf(level, tenant, member.id));
    expect(again.status).toBe(404);
  });

  it('does not let a member end the membership of others', async () => {
    const tenant = await makeTenant(api);
    const [member, other] = [await addMember(tenant), await addMember(tenant)];
    const refused = await member.delete(pathOf(level, tenant, other.id));
    expect([refused.status, refused.headers['x-error-code']]).toEqual([403, 'permission_denied']);
    expect((await other.get(pathOf(level, tenant, other.id))).status).toBe(200);
  });

  it('is refused to the last owner with advice', async () => {
    const tenant = await makeTenant(api);
    const refused = await tenant.owner.delete(pathOf(level, tenant, tenant.owner.id));
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'last_owner']);
    expect(refused.body.error).toMatch(/make another member (an|their) owner first/);
  });

  it('is refused to a service account, because only people may leave', async () => {
    const tenant = await makeTenant(api);
    const account = await tenant.owner.make('/service-accounts', {
      name: 'deploy',
      role: 'requester',
      owner: { user_id: tenant.owner.id },
    });
    for (const each of levels) {
      const joined = await tenant.owner.put(pathOf(each, tenant, account.id), { role: 'member' });
      expect(joined.status, joined.text).toBe(200);
    }
    const { key } = await tenant.owner.make(`/service-accounts/${account.id}/api-keys`, { name: 'ci' });
    const headers = { 'x-api-key': String(key) };
    const refused = await api.nobody.send('DELETE', pathOf(level, tenant, account.id), undefined, headers);
    expect(refused).toMatchObject({
      status: 403,
      body: { error: 'permission denied: only people may do this, not service accounts' },
    });
  });
});

it("leaving an organization is refused to the last owner of one of its teams, with the team's name", async () => {
  const tenant = await makeTenant(api);
  const member = await addMember(tenant, 'maintainer');
  const { slug } = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Lonely' });
  const team = `/organizations/${tenant.organization}/teams`;
  const { body } = await tenant.owner.get(team);
  const { id } = body.teams.find((each: { slug: string }) => each.slug === slug);
  await tenant.owner.put(`${team}/${id}/members/${member.id}`, { role: 'owner' });
  await tenant.owner.delete(`${team}/${id}/members/${tenant.owner.id}`);
  const refused = await member.delete(pathOf('organization', tenant, member.id));
  expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'last_owner']);
  expect(refused.body.error).toContain('lonely');
});

it('only leaving has a separate access for the caller whom the path names', () => {
  const own = operations.filter(({ ownAccess }) => ownAccess).map(({ id, ownAccess }) => [id, ownAccess?.access.anyOf]);
  expect(own).toEqual([
    ['organization_members.remove', ['profile:manage']],
    ['team_members.remove', ['profile:manage']],
  ]);
});
