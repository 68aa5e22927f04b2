import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const missing = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';

describe('a member of a team', () => {
  test('must be a member of the organization, and an outsider and an unknown user get the same response', async () => {
    const tenant = await makeTenant(api);
    const outsider = await api.addUser('requester');
    const [outside, nobody] = await Promise.all(
      [outsider.id, missing].map((id) => tenant.owner.put(`${tenant.teamPath}/members/${id}`, { role: 'member' })),
    );
    expect(outside).toMatchObject({ status: 409, body: { error: expect.stringContaining('organization') } });
    expect(nobody!.body).toEqual(outside!.body);
  });

  test('is managed by admins of the team and the organization, and owners only by users who may manage owners', async () => {
    const tenant = await makeTenant(api);
    const [admin, organizationAdmin, member, other] = await Promise.all([
      api.addUser('maintainer'),
      api.addUser('maintainer'),
      api.addUser('maintainer'),
      api.addUser('requester'),
    ]);
    await join(tenant, admin, 'member', 'admin');
    await join(tenant, organizationAdmin, 'admin');
    await join(tenant, member, 'member', 'member');
    await join(tenant, other, 'member');
    const members = `${tenant.teamPath}/members`;
    expect((await member.put(`${members}/${other.id}`, { role: 'viewer' })).status).toBe(403);
    for (const manager of [admin, organizationAdmin]) {
      expect((await manager.put(`${members}/${other.id}`, { role: 'admin' })).status).toBe(200);
      expect((await manager.put(`${members}/${other.id}`, { role: 'owner' })).status).toBe(403);
      expect((await manager.put(`${members}/${manager.id}`, { role: 'owner' })).status).toBe(403);
      expect((await manager.put(`${members}/${tenant.owner.id}`, { role: 'viewer' })).status).toBe(403);
      expect((await manager.delete(`${members}/${tenant.owner.id}`)).status).toBe(403);
      expect((await manager.delete(`${members}/${other.id}`)).status).toBe(204);
    }
    expect((await tenant.owner.put(`${members}/${other.id}`, { role: 'owner' })).status).toBe(200);
  });

  test('a member of a team who is its last owner cannot leave or lose the role', async () => {
    const tenant = await makeTenant(api);
    const members = `${tenant.teamPath}/members`;
    const last = { status: 409, body: { error: expect.stringContaining('last owner') } };
    expect(await tenant.owner.delete(`${members}/${tenant.owner.id}`)).toMatchObject(last);
    expect(await tenant.owner.put(`${members}/${tenant.owner.id}`, { role: 'admin' })).toMatchObject(last);
  });

  test('a member of a team who is added several times at once joins once', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('requester');
    await join(tenant, user, 'member');
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => tenant.owner.put(`${tenant.teamPath}/members/${user.id}`, { role: 'member' })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test('a member of a team who is removed while their command waits is refused', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('maintainer');
    await join(tenant, user, 'member', 'admin');
    const em = api.services.orm.em.fork();
    await em.begin();
    await em.execute('select 1 from principals where id = ? for no key update', [user.id]);
    await em.execute('delete from team_members where principal_id = ?', [user.id]);
    const waiting = user.patch(`/projects/${tenant.project}`, { name: 'Taken over' });
    await awaitLockWaits(api.services.orm);
    await em.commit();
    expect((await waiting).status).toBe(404);
    expect((await tenant.owner.get(`/projects/${tenant.project}`)).body.name).toBe('Network');
  });
});
