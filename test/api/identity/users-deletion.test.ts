import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let root: ApiUser;
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
});
afterAll(() => api?.close());

const missing = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';
const remove = (user: ApiUser, by = root) => by.delete(`/users/${user.id}`);

/** Expects that a user still has everything: the account, memberships, sessions and keys. */
async function expectWhole(user: ApiUser, session: ApiUser): Promise<void> {
  expect((await root.get(`/users/${user.id}`)).body).toMatchObject({ enabled: true });
  for (const each of [user, session]) expect((await each.get('/auth/whoami')).status).toBe(200);
}

describe('deleting a user', () => {
  test('ends sessions, keys and memberships, and frees the address', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('maintainer');
    await join(tenant, user, 'member', 'owner');
    const session = await api.signIn(user);
    const answer = await remove(user);
    expect([answer.status, answer.text]).toEqual([204, '']);
    for (const each of [user, session]) expect((await each.get('/auth/whoami')).status).toBe(401);
    await expect(api.signIn(user)).rejects.toThrow('401');
    expect((await tenant.owner.get(`${tenant.teamPath}/members`)).text).not.toContain(user.id);
    expect(await api.rows('select 1 from organization_members where principal_id = ?', [user.id])).toEqual([]);
    const again = { email: user.email, name: 'Another', password: 'long enough', role: 'requester' };
    expect((await root.post('/users', again)).status).toBe(201);
    for (const path of [`/users/${user.id}`, `/users/${missing}`])
      expect(await root.get(path)).toMatchObject({ status: 403, body: { error: 'permission denied' } });
    expect((await remove(user)).status).toBe(403);
    expect((await root.get(`/users?email=${encodeURIComponent(user.email)}`)).body.users).toHaveLength(1);
  });

  test('keeps the user’s details in the audit', async () => {
    const user = await api.addUser('operator');
    await remove(user);
    const rows = await api.rows(
      `select actor_id, before, after from audit_records where action = 'user.deleted' and resource_id = ?`,
      [user.id],
    );
    expect(rows).toEqual([
      {
        actor_id: root.id,
        before: { email: user.email, name: expect.any(String), role: 'operator', enabled: true },
        after: null,
      },
    ]);
  });

  test.each(['requester', 'maintainer', 'operator'] as const)(
    'is refused to a %s, even for their own user',
    async (role) => {
      const [user, other] = await Promise.all([api.addUser(role), api.addUser('requester')]);
      const answers = [await remove(other, user), await remove(user, user), await user.delete(`/users/${missing}`)];
      expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
        Array(3).fill([403, answers[0]?.body.error]),
      );
    },
  );

  test('works on a disabled user', async () => {
    const user = await api.addUser('requester');
    await root.put(`/users/${user.id}`, { enabled: false });
    expect((await remove(user)).status).toBe(204);
  });
});

describe('the deletion of a user', () => {
  test('a user who owns service accounts is not deleted, and accounts of a disabled user are unchanged', async () => {
    const user = await api.addUser('maintainer');
    const session = await api.signIn(user);
    const account = await addAccount(user, 'deploy bot');
    const answer = await remove(user);
    expect(answer).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('owns service accounts: 1; transfer') },
    });
    expect(answer.text).not.toContain('deploy bot');
    await expectWhole(user, session);
    await root.put(`/users/${user.id}`, { enabled: false });
    expect((await remove(user)).body.error).toContain('owns service accounts: "deploy bot"; transfer');
    expect(await api.rows('select enabled from principals where id = ?', [account])).toEqual([{ enabled: true }]);
    await api.rows('update principals set deleted_at = now() where id = ?', [account]);
    expect((await remove(user)).status).toBe(204);
  });

  test('a user who is the only owner of an organization and its team is not deleted, and the error names both', async () => {
    const tenant = await makeTenant(api);
    const session = await api.signIn(tenant.owner);
    const answer = await remove(tenant.owner);
    expect(answer.status, answer.text).toBe(409);
    expect(answer.body.error).toMatch(
      /only owner of organizations: tenant-\d+;.*only owner of teams: tenant-\d+\/core;/,
    );
    await expectWhole(tenant.owner, session);
    const heir = await api.addUser('maintainer');
    await join(tenant, heir, 'owner', 'owner');
    await root.put(`/users/${heir.id}`, { enabled: false });
    expect((await remove(tenant.owner)).status).toBe(409);
    await root.put(`/users/${heir.id}`, { enabled: true });
    expect((await remove(tenant.owner)).status).toBe(204);
    expect((await heir.get(tenant.teamPath)).status).toBe(200);
  });

  test('a user is not deleted while secrets that they have set are stored', async () => {
    const tenant = await makeTenant(api);
    const user = await api.addUser('maintainer');
    await join(tenant, user, 'member', 'admin');
    const variables = `/environments/${tenant.environment}/variables`;
    const set = (name: string, sensitive: boolean, by = user) =>
      by.put(`${variables}/${name}`, { value: 'x', category: 'env', sensitive });
    expect((await set('TOKEN', true)).status).toBe(200);
    expect((await set('REGION', false)).status).toBe(200);
    const answer = await remove(user);
    expect(answer).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('secrets: development/TOKEN') },
    });
    expect(answer.body.error).toContain('disable the user instead');
    expect(answer.body.error).not.toContain('REGION');
    await set('TOKEN', true, tenant.owner);
    expect((await remove(user)).status).toBe(204);
  });

  test('the refusal to delete a user names all service accounts, sole ownerships and records that prevent it', async () => {
    const { owner, ...tenant } = await makeTenant(api);
    const { slug } = (await owner.get(`/organizations/${tenant.organization}`)).body;
    await addAccount(owner, 'builder');
    await owner.put(`/environments/${tenant.environment}/variables/TOKEN`, {
      value: 'x',
      category: 'env',
      sensitive: true,
    });
    await owner.post(`${tenant.teamPath}/invitations`, { email: 'guest@example.com' });
    const remedy = 'make another member their owner first';
    const disable = 'which history keeps: disable the user instead';
    expect((await remove(owner)).body.error).toBe(
      `this user owns service accounts: 1; transfer or delete them first; ` +
        `and is the only owner of organizations: ${slug}; ${remedy}; and is the only owner of teams: ${slug}/core; ${remedy}; ` +
        `and has set secrets: development/TOKEN; ${disable}; and has sent or accepted invitations to: ${slug}; ${disable}`,
    );
  });

  test('a user is not deleted while keys that they issued, or invitations that they sent or accepted, name them', async () => {
    const tenant = await makeTenant(api);
    const [issuer, inviter, invited] = await Promise.all([1, 2, 3].map(() => api.addUser('maintainer')));
    const account = await addAccount(root, 'robot');
    await api.rows(
      `insert into api_keys (id, principal_id, name, verifier, hint, issued_by, created_at, kind)
       values (gen_random_uuid(), ?, 'ci', 'v', 'abcd', ?, now(), 'service_account')`,
      [account, issuer!.id],
    );
    await api.rows(
      `insert into invitations (id, organization_id, email, email_key, role, verifier, invited_by, inviter_generation,
         organization_generation, created_at, sent_at, expires_at, accepted_at, accepted_by)
       values (gen_random_uuid(), ?, 'x@example.com', 'x@example.com', 'member', 'v', ?, 1, 1, now(), now(), now(), now(), ?)`,
      [tenant.organization, inviter!.id, invited!.id],
    );
    for (const [user, reason] of [
      [issuer, 'issued API keys of others: 1;'],
      [inviter, 'invitations to: tenant-'],
      [invited, 'invitations to: tenant-'],
    ] as const) {
      const answer = await remove(user!);
      expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining(reason) } });
      expect((await user!.get('/auth/whoami')).status).toBe(200);
    }
  });

  test('a service account with the role admin gets the number of obstacles to the deletion of a user, but no names', async () => {
    const { owner, ...tenant } = await makeTenant(api);
    const { slug } = (await owner.get(`/organizations/${tenant.organization}`)).body;
    await addAccount(owner, 'builder');
    await owner.put(`/environments/${tenant.environment}/variables/TOKEN`, {
      value: 'x',
      category: 'env',
      sensitive: true,
    });
    const remedy = 'make another member their owner first';
    const answer = await remove(owner, await addAdministrator());
    expect(answer).toMatchObject({
      status: 409,
      body: {
        error:
          'this user owns service accounts: 1; transfer or delete them first; ' +
          `and is the only owner of organizations: 1; ${remedy}; and is the only owner of teams: 1; ${remedy}; ` +
          'and has set secrets: 1; which history keeps: disable the user instead',
      },
    });
    for (const hidden of [slug, 'builder', 'TOKEN']) expect(answer.text).not.toContain(hidden);
  });

  test('users who delete themselves get the names of their own service accounts', async () => {
    const own = await api.addUser('admin');
    await addAccount(own, 'mine');
    expect((await remove(own, own)).body.error).toContain('owns service accounts: "mine"; transfer');
  });

  test('an administrator is deleted only if there is another administrator', async () => {
    const own = await startApi();
    const last = await own.addUser('admin');
    expect(await last.delete(`/users/${last.id}`)).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('last administrator') },
    });
    expect((await last.get('/users')).status).toBe(200);
    await own.addUser('admin');
    expect((await last.delete(`/users/${last.id}`)).status).toBe(204);
    expect((await last.get('/auth/whoami')).status).toBe(401);
    await own.close();
  });

  test('a user and a co-owner who leave an organization at the same time leave one owner', async () => {
    for (let round = 0; round < 5; round += 1) {
      const tenant = await makeTenant(api);
      const other = await api.addUser('maintainer');
      await join(tenant, other, 'owner', 'owner');
      const answers = await Promise.all([
        remove(tenant.owner),
        remove(other),
        other.delete(`/organizations/${tenant.organization}/members/${other.id}`),
      ]);
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
      const owners = await api.rows(
        `select 1 from organization_members m join principals p on p.id = m.principal_id and p.deleted_at is null
          where m.organization_id = ? and m.role = 'owner'`,
        [tenant.organization],
      );
      expect(owners.length, JSON.stringify(answers.map(({ text }) => text))).toBeGreaterThan(0);
    }
  });
});

/** A service account with the role admin and without memberships. */
async function addAdministrator(): Promise<ApiUser> {
  const account = await root.make('/service-accounts', {
    name: 'administrator',
    role: 'admin',
    owner: { user_id: root.id },
  });
  const issued = await root.make(`/service-accounts/${account.id}/api-keys`, { name: 'test' });
  return new ApiUser(api, { 'x-api-key': String(issued['key']) }, { id: account.id, email: '' });
}

/** Adds a service account of a user directly to the database. */
async function addAccount(owner: ApiUser, name: string): Promise<string> {
  const [row] = await api.rows<{ id: string }>(
    `with made as (insert into principals (id, kind, name, role, created_at)
       values (gen_random_uuid(), 'service_account', ?, 'requester', now()) returning id)
     insert into service_accounts (id, owner_user_id, created_by) select id, ?, ? from made returning id`,
    [name, owner.id, owner.id],
  );
  return row!.id;
}
