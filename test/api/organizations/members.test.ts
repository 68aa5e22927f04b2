import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const missing = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';

describe('a member of an organization', () => {
  test('joins with a role, gets another, and leaves; each join is a membership of its own', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('requester', 'Ben');
    const path = `/organizations/${tenant.organization}/members`;
    const joined = await tenant.owner.put(`${path}/${user.id}`, { role: 'member' });
    expect(joined).toMatchObject({ status: 200, body: { user_id: user.id, name: 'Ben', role: 'member' } });
    const promoted = await tenant.owner.put(`${path}/${user.id}`, { role: 'admin' });
    expect(promoted.body).toMatchObject({ id: joined.body.id, role: 'admin' });
    expect((await user.get(path)).body.members).toHaveLength(2);
    expect((await tenant.owner.delete(`${path}/${user.id}`)).status).toBe(204);
    expect((await user.get(path)).status).toBe(404);
    expect((await tenant.owner.delete(`${path}/${user.id}`)).status).toBe(404);
    const again = await tenant.owner.put(`${path}/${user.id}`, { role: 'member' });
    expect(again.body.id).not.toBe(joined.body.id);
  });

  test('is added by admins of the organization, who also need the permission', async () => {
    const tenant = await makeTenant(api);
    const [plain, powerless, user] = await Promise.all([
      api.addUser('maintainer'),
      api.addUser('requester'),
      api.addUser('requester'),
    ]);
    await join(tenant, plain, 'member');
    await join(tenant, powerless, 'owner');
    const path = `/organizations/${tenant.organization}/members/${user.id}`;
    expect((await plain.put(path, { role: 'member' })).status).toBe(403);
    expect((await powerless.put(path, { role: 'member' })).status).toBe(403);
    expect((await api.nobody.put(path, { role: 'member' })).status).toBe(401);
  });

  test('never gets from anybody a role above their own, and nobody takes such a role away', async () => {
    const tenant = await makeTenant(api);
    const [admin, other] = await Promise.all([api.addUser('maintainer'), api.addUser('requester')]);
    await join(tenant, admin, 'admin');
    const path = `/organizations/${tenant.organization}/members`;
    const above = { status: 403, body: { error: expect.stringContaining('above your own') } };
    expect(await admin.put(`${path}/${other.id}`, { role: 'owner' })).toMatchObject(above);
    expect(await admin.put(`${path}/${admin.id}`, { role: 'owner' })).toMatchObject(above);
    await join(tenant, other, 'owner');
    expect(await admin.put(`${path}/${other.id}`, { role: 'member' })).toMatchObject(above);
    expect(await admin.delete(`${path}/${tenant.owner.id}`)).toMatchObject(above);
    expect((await admin.put(`${path}/${admin.id}`, { role: 'member' })).status).toBe(200);
  });

  test('who is the last owner stays one, also when the other owner is disabled', async () => {
    const tenant = await makeTenant(api);
    const [second, root] = await Promise.all([api.addUser('maintainer'), api.addUser('admin')]);
    const path = `/organizations/${tenant.organization}/members`;
    const last = { status: 409, body: { error: expect.stringContaining('last owner') } };
    expect(await tenant.owner.put(`${path}/${tenant.owner.id}`, { role: 'member' })).toMatchObject(last);
    expect(await root.delete(`${path}/${tenant.owner.id}`)).toMatchObject(last);
    await join(tenant, second, 'owner');
    await root.put(`/users/${second.id}`, { enabled: false });
    expect(await root.delete(`${path}/${tenant.owner.id}`)).toMatchObject(last);
  });

  test('stays an owner when two owners remove each other at once: one of them', async () => {
    for (let round = 0; round < 3; round += 1) {
      const tenant = await makeTenant(api);
      const [a, b] = await Promise.all([api.addUser('maintainer'), api.addUser('maintainer')]);
      await join(tenant, a, 'owner');
      await join(tenant, b, 'owner', 'owner');
      const path = `/organizations/${tenant.organization}/members`;
      await tenant.owner.delete(`${path}/${tenant.owner.id}`);
      const answers = await Promise.all([a.delete(`${path}/${b.id}`), b.delete(`${path}/${a.id}`)]);
      const rows = await api.rows(`select 1 from organization_members where organization_id = ? and role = 'owner'`, [
        tenant.organization,
      ]);
      expect(rows).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    }
  });

  test('takes their memberships of teams along when they leave, but not the last ownership of one', async () => {
    const tenant = await makeTenant(api);
    const [lead, other] = await Promise.all([api.addUser('maintainer'), api.addUser('maintainer')]);
    await join(tenant, lead, 'admin', 'viewer');
    await join(tenant, other, 'member', 'member');
    await lead.make(`/organizations/${tenant.organization}/teams`, { name: 'Edge' });
    const path = `/organizations/${tenant.organization}/members`;
    const kept = await tenant.owner.delete(`${path}/${lead.id}`);
    expect(kept).toMatchObject({ status: 409, body: { error: expect.stringContaining('edge') } });
    expect((await lead.get(tenant.teamPath)).status).toBe(200);
    expect((await tenant.owner.delete(`${path}/${other.id}`)).status).toBe(204);
    expect((await other.get(tenant.teamPath)).status).toBe(404);
    expect(await api.rows('select 1 from team_members where principal_id = ?', [other.id])).toEqual([]);
  });

  test('changes each other, and themselves, at once, and everybody is answered', async () => {
    const tenant = await makeTenant(api);
    const [one, other] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    for (const user of [one, other]) await join(tenant, user, 'owner');
    const put = (by: ApiUser, whom: ApiUser) =>
      by.put(`/organizations/${tenant.organization}/members/${whom.id}`, { role: 'owner' });
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => [put(one, other), put(other, one), put(one, one), put(other, other)]).flat(),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(24).fill(200));
  });

  test('is a user or a service account there is: a missing one, and what works in the background, answer 403', async () => {
    const tenant = await makeTenant(api);
    const [background] = await api.rows<{ id: string }>(
      `insert into principals (id, kind, name, role, created_at)
       values (gen_random_uuid(), 'background', 'plugin', 'maintainer', now()) returning id`,
    );
    for (const id of [missing, background!.id]) {
      const answer = await tenant.owner.put(`/organizations/${tenant.organization}/members/${id}`, { role: 'member' });
      expect(answer.status).toBe(403);
    }
  });

  test('leaves who did what to whom in the audit', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('requester');
    await join(tenant, user, 'member');
    await tenant.owner.put(`/organizations/${tenant.organization}/members/${user.id}`, { role: 'admin' });
    const rows = await api.rows<{ before: { role: string } | null; after: { role: string } }>(
      `select before, after from audit_records
        where actor_id = ? and action = 'organization_member.set' and resource_id = ? order by at`,
      [tenant.owner.id, user.id],
    );
    expect(rows.map(({ before, after }) => [before?.role, after.role])).toEqual([
      [undefined, 'member'],
      ['member', 'admin'],
    ]);
  });
});

describe('a member of a team', () => {
  test('must be in its organization; who is not, and who is nobody, are answered alike', async () => {
    const tenant = await makeTenant(api);
    const outsider = await api.addUser('requester');
    const [outside, nobody] = await Promise.all(
      [outsider.id, missing].map((id) => tenant.owner.put(`${tenant.teamPath}/members/${id}`, { role: 'member' })),
    );
    expect(outside).toMatchObject({ status: 409, body: { error: expect.stringContaining('organization') } });
    expect(nobody!.body).toEqual(outside!.body);
  });

  test('is managed by admins of the team and of the organization; owners only by those who manage owners', async () => {
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

  test('who is its last owner stays one', async () => {
    const tenant = await makeTenant(api);
    const members = `${tenant.teamPath}/members`;
    const last = { status: 409, body: { error: expect.stringContaining('last owner') } };
    expect(await tenant.owner.delete(`${members}/${tenant.owner.id}`)).toMatchObject(last);
    expect(await tenant.owner.put(`${members}/${tenant.owner.id}`, { role: 'admin' })).toMatchObject(last);
  });

  test('joins once, however often they are added at once', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('requester');
    await join(tenant, user, 'member');
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => tenant.owner.put(`${tenant.teamPath}/members/${user.id}`, { role: 'member' })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test('who is removed while their command waits does not get through with it', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('maintainer');
    await join(tenant, user, 'member', 'admin');
    const em = api.services.orm.em.fork();
    await em.begin();
    await em.execute('select 1 from principals where id = ? for no key update', [user.id]);
    await em.execute('delete from team_members where principal_id = ?', [user.id]);
    const waiting = user.patch(`/projects/${tenant.project}`, { name: 'Taken over' });
    await sleep(300);
    await em.commit();
    expect((await waiting).status).toBe(404);
    expect((await tenant.owner.get(`/projects/${tenant.project}`)).body.name).toBe('Network');
  });
});
