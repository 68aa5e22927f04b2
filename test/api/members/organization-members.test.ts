import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acquaint, join, makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const missing = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';

describe('a member of an organization', () => {
  test('joins, changes role and leaves, and gets a new membership each time', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('requester', 'Ben');
    await acquaint(tenant.owner, user);
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

  test('can be added only by admins of the organization with the permission', async () => {
    const tenant = await makeTenant(api);
    const [plain, powerless, user] = await Promise.all([
      api.addUser('maintainer'),
      api.addUser('requester'),
      api.addUser('requester'),
    ]);
    await join(tenant, plain, 'member');
    await join(tenant, powerless, 'owner');
    for (const each of [plain, powerless]) await acquaint(each, user);
    const path = `/organizations/${tenant.organization}/members/${user.id}`;
    expect((await plain.put(path, { role: 'member' })).status).toBe(403);
    expect((await powerless.put(path, { role: 'member' })).status).toBe(403);
    expect((await api.nobody.put(path, { role: 'member' })).status).toBe(401);
  });

  test('cannot give or take a role above their own', async () => {
    const tenant = await makeTenant(api);
    const [admin, other] = await Promise.all([api.addUser('maintainer'), api.addUser('requester')]);
    await join(tenant, admin, 'admin');
    await acquaint(admin, other);
    const path = `/organizations/${tenant.organization}/members`;
    const above = { status: 403, body: { error: expect.stringContaining('above your own') } };
    expect(await admin.put(`${path}/${other.id}`, { role: 'owner' })).toMatchObject(above);
    expect(await admin.put(`${path}/${admin.id}`, { role: 'owner' })).toMatchObject(above);
    await join(tenant, other, 'owner');
    expect(await admin.put(`${path}/${other.id}`, { role: 'member' })).toMatchObject(above);
    expect(await admin.delete(`${path}/${tenant.owner.id}`)).toMatchObject(above);
    expect((await admin.put(`${path}/${admin.id}`, { role: 'member' })).status).toBe(200);
  });

  test('a member of an organization who is the last owner who can act cannot leave or lose the role', async () => {
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

  test('two owners of an organization who remove each other at the same time leave one owner', async () => {
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

  test('a member of an organization who leaves also leaves the teams, unless a team would lose its last owner', async () => {
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

  test('a member of an organization whose departure would leave teams without an owner gets an error with the first five teams', async () => {
    const tenant = await makeTenant(api);
    const lead = await api.addUser('maintainer');
    await join(tenant, lead, 'admin');
    const addTeam = (name: string) => lead.make(`/organizations/${tenant.organization}/teams`, { name });
    const refusal = async () =>
      (await tenant.owner.delete(`/organizations/${tenant.organization}/members/${lead.id}`)).body.error;
    const remedy = 'make another member their owner first';
    for (const name of ['A', 'B', 'C', 'D', 'E']) await addTeam(name);
    expect(await refusal()).toBe(`this is the last owner of these teams: a, b, c, d, e; ${remedy}`);
    await addTeam('F');
    expect(await refusal()).toBe(`this is the last owner of these teams: a, b, c, d, e and more; ${remedy}`);
  });

  test('can change and be changed by other owners at once without a deadlock', async () => {
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

  test('must be an existing user or service account, else the answer is 403', async () => {
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

  test('has changes that leave their author, the member and the roles in the audit', async () => {
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
