import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

describe('a team', () => {
  test('is created by owners and admins of the organization, and its creator owns it', async () => {
    const tenant = await makeTenant(api);
    const [admin, member] = await Promise.all([api.addUser('maintainer'), api.addUser('maintainer')]);
    await join(tenant, admin, 'admin');
    await join(tenant, member, 'member');
    const path = `/organizations/${tenant.organization}/teams`;
    expect((await member.post(path, { name: 'Edge' })).status).toBe(403);
    const answer = await admin.post(path, { name: 'Edge' });
    expect(answer).toMatchObject({ status: 201, body: { slug: 'edge', organization_id: tenant.organization } });
    expect(answer.headers['location']).toBe(`/api/v1${path}/${answer.body.id}`);
    const members = await admin.get(`${path}/${answer.body.id}/members`);
    expect(members.body.members).toMatchObject([{ user_id: admin.id, role: 'owner' }]);
    const taken = await admin.post(path, { name: 'Another', slug: 'edge' });
    expect(taken).toMatchObject({ status: 409, body: { error: expect.stringContaining('"edge"') } });
  });

  test('that a platform administrator creates makes them a member of the organization', async () => {
    const tenant = await makeTenant(api);
    const admin = await api.addUser('admin');
    await admin.make(`/organizations/${tenant.organization}/teams`, { name: 'Imposed' });
    const { body } = await tenant.owner.get(`/organizations/${tenant.organization}/members`);
    expect(body.members.find((member: { user_id: string }) => member.user_id === admin.id)).toMatchObject({
      role: 'member',
    });
  });

  test('can be renamed by its admins and archived by its owners', async () => {
    const tenant = await makeTenant(api);
    const people = {} as Record<'admin' | 'member' | 'viewer', ApiUser>;
    for (const role of ['admin', 'member', 'viewer'] as const) {
      people[role] = await api.addUser('operator');
      await join(tenant, people[role], 'member', role);
    }
    expect((await people.viewer.get(tenant.teamPath)).status).toBe(200);
    expect((await people.member.patch(tenant.teamPath, { name: 'Ours' })).status).toBe(403);
    expect((await people.admin.patch(tenant.teamPath, { name: 'Ours' })).body).toMatchObject({
      name: 'Ours',
      revision: 2,
    });
    expect((await people.admin.post(`${tenant.teamPath}/archive`)).status).toBe(403);
    expect((await tenant.owner.post(`${tenant.teamPath}/archive`)).status).toBe(200);
  });
});
