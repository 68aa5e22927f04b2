import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { acquaint, join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let root: ApiUser;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const accounts = '/service-accounts';
type Owner = { user_id: string } | { team_id: string };
const oneself = ({ id }: { id: string }): Owner => ({ user_id: id });
const ownTeam = (): Owner => ({ team_id: tenant.team });

/** Only the owner of a user's account may add it to an organization, as an admin there. The owner leaves again afterwards. */
async function letIntoOrganization(owner: ApiUser, { id }: { id: string }, place = tenant): Promise<void> {
  const members = `/organizations/${place.organization}/members`;
  await join(place, owner, 'admin');
  expect((await owner.put(`${members}/${id}`, { role: 'member' })).status).toBe(200);
  expect((await place.owner.delete(`${members}/${owner.id}`)).status).toBe(204);
}

async function make(maker: ApiUser, owner: Owner, role = 'maintainer'): Promise<{ id: string; path: string }> {
  const { id } = await maker.make(accounts, { name: 'deploy', role, owner });
  return { id, path: `${accounts}/${id}` };
}

/** The account as a caller, with a key that `maker` creates for it. */
async function keyFor(maker: ApiUser, { id, path }: { id: string; path: string }): Promise<ApiUser> {
  const { key } = (await maker.make(`${path}/api-keys`, { name: 'ci' })) as unknown as { key: string };
  return new ApiUser(api, { 'x-api-key': key }, { id, email: '' });
}

const whoami = (caller: ApiUser) => caller.get('/auth/whoami');
const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status;
const everything = (path: string, keyId: string) =>
  [
    ['GET', path],
    ['PATCH', path, { name: 'Taken' }],
    ['POST', `${path}/disable`],
    ['POST', `${path}/enable`],
    ['GET', `${path}/api-keys`],
    ['GET', `${path}/api-keys/${keyId}`],
    ['POST', `${path}/api-keys`, { name: 'mine now' }],
    ['POST', `${path}/api-keys/${keyId}/rotate`, {}],
    ['DELETE', `${path}/api-keys/${keyId}`],
    ['DELETE', path],
  ] as ['GET' | 'POST' | 'PATCH' | 'DELETE', string, object?][];

describe('a service account', () => {
  it('is created for a team by a team owner, acts with its own key, and is not its owner', async () => {
    const answer = await tenant.owner.post(accounts, { name: 'deploy', role: 'requester', owner: ownTeam() });
    expect(answer).toMatchObject({
      status: 201,
      headers: { location: `/api/v1/service-accounts/${answer.body.id}` },
      body: {
        name: 'deploy',
        role: 'requester',
        enabled: true,
        revision: 1,
        created_by: tenant.owner.id,
        owner: { user_id: null, team_id: tenant.team },
      },
    });
    const account = { id: answer.body.id, path: `${accounts}/${answer.body.id}` };
    const identity = await whoami(await keyFor(tenant.owner, account));
    expect(identity.body).toMatchObject({
      type: 'service_account',
      id: account.id,
      email: null,
      role: 'requester',
      teams: [{ id: tenant.team, role: 'member' }],
      organizations: [{ id: tenant.organization, role: 'member' }],
    });
    expect((await tenant.owner.get(account.path)).body).toEqual(answer.body);
  });

  it.each([
    [{}, 'owner'],
    [{ user_id: newId(), team_id: newId() }, 'exactly one'],
    [{ organization_id: newId() }, 'organization_id'],
    [{ team_id: 'core' }, 'team_id'],
    [null, 'owner'],
  ])('cannot be created with the owner %j', async (owner, field) => {
    const answer = await root.post(accounts, { name: 'x', role: 'requester', owner });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } });
  });

  it('cannot be created for another user, or for a team that the caller does not own', async () => {
    const user = await api.addUser('maintainer');
    const body = { name: 'x', role: 'requester' };
    for (const caller of [root, tenant.owner]) {
      expect((await caller.post(accounts, { ...body, owner: oneself(user) })).status).toBe(403);
      expect((await caller.post(accounts, { ...body, owner: { user_id: newId() } })).status).toBe(403);
      expect((await caller.post(accounts, { ...body, owner: { team_id: newId() } })).status).toBe(404);
    }
    expect((await user.post(accounts, { ...body, owner: ownTeam() })).status).toBe(404);
    await join(tenant, user, 'admin', 'admin');
    const asAdmin = await user.post(accounts, { ...body, owner: ownTeam() });
    expect(asAdmin).toMatchObject({
      status: 403,
      body: { error: 'permission denied: this needs the team role owner in the team that becomes the owner' },
    });
    expect((await root.post(accounts, { ...body, owner: ownTeam() })).status).toBe(201);
  });

  it('never gets a role above its creator’s own, at creation or later', async () => {
    const { owner } = tenant;
    for (const role of ['operator', 'admin'])
      expect(await owner.post(accounts, { name: 'x', role, owner: ownTeam() })).toMatchObject({
        status: 403,
        body: { error: expect.stringContaining('above your own') },
      });
    const { path } = await make(owner, ownTeam());
    expect((await owner.patch(path, { role: 'admin' })).status).toBe(403);
    expect((await owner.patch(path, { role: 'requester' })).body).toMatchObject({ role: 'requester', revision: 2 });
    expect((await root.patch(path, { role: 'admin' })).body).toMatchObject({ role: 'admin', revision: 3 });
    expect((await owner.patch(path, { name: 'Mine', expected_revision: 2 })).status).toBe(409);
    expect((await owner.patch(path, { role: 'maintainer' })).body).toMatchObject({ role: 'maintainer', revision: 4 });
  });

  it('cannot be created, changed or enabled in an archived team, but it can be deleted', async () => {
    const { owner, teamPath, team } = await makeTenant(api);
    const account = await make(owner, { team_id: team });
    const key = await keyFor(owner, account);
    await owner.post(`${account.path}/disable`);
    expect((await owner.post(`${teamPath}/archive`)).status).toBe(200);
    expect(await statusOf(owner.post(accounts, { name: 'x', role: 'requester', owner: { team_id: team } }))).toBe(409);
    expect(await statusOf(owner.patch(account.path, { name: 'x' }))).toBe(409);
    expect(await statusOf(owner.post(`${account.path}/enable`))).toBe(409);
    expect(await statusOf(owner.post(`${account.path}/api-keys`, { name: 'x' }))).toBe(409);
    expect(await statusOf(owner.delete(account.path))).toBe(204);
    expect(await statusOf(whoami(key))).toBe(401);
  });
});

describe('a service account that a team owns', () => {
  it('is hidden from strangers, and refused to members of the team who are not owners', async () => {
    const account = await make(tenant.owner, ownTeam());
    const key = await tenant.owner.make(`${account.path}/api-keys`, { name: 'ci' });
    const keyId = (key.api_key as { id: string }).id;
    const [stranger, admin, organizationOwner] = await Promise.all(['a', 'b', 'c'].map(() => api.addUser('operator')));
    await join(tenant, admin!, 'member', 'admin');
    await join(tenant, organizationOwner!, 'owner');
    for (const [method, path, body] of everything(account.path, keyId)) {
      expect((await stranger!.send(method, path, body)).status, `${method} ${path}`).toBe(404);
      expect((await admin!.send(method, path, body)).status, `${method} ${path}`).toBe(403);
      expect((await organizationOwner!.send(method, path, body)).status, `${method} ${path}`).toBe(403);
    }
    expect((await tenant.owner.get(account.path)).body).toMatchObject({ name: 'deploy', enabled: true, revision: 1 });
  });

  it('answers 409 when a key that is revoked already is revoked again', async () => {
    const account = await make(tenant.owner, ownTeam());
    const key = await tenant.owner.make(`${account.path}/api-keys`, { name: 'ci' });
    const path = `${account.path}/api-keys/${(key.api_key as { id: string }).id}`;
    expect((await tenant.owner.delete(path)).status).toBe(204);
    const again = await tenant.owner.delete(path);
    expect(again).toMatchObject({ status: 409, body: { error: 'the key is revoked already' } });
    expect((await tenant.owner.get(path)).body).toMatchObject({ state: 'revoked' });
  });

  it('can be managed by the owners of its team and by platform administrators', async () => {
    for (const caller of [tenant.owner, root]) {
      const account = await make(caller, ownTeam());
      const { api_key: key } = (await caller.make(`${account.path}/api-keys`, { name: 'ci' })) as unknown as {
        api_key: { id: string };
      };
      for (const [method, path, body] of everything(account.path, key.id)) {
        const rotated = method === 'DELETE' && path.endsWith(key.id);
        const { status, text } = await caller.send(method, path, body);
        expect(rotated ? [409] : [200, 201, 204], `${method} ${path}: ${text}`).toContain(status);
      }
    }
  });

  it('acts only in its own team, even if the team’s owners have other teams', async () => {
    const elsewhere = await makeTenant(api);
    const caller = await keyFor(tenant.owner, await make(tenant.owner, ownTeam()));
    await join(elsewhere, tenant.owner, 'member', 'owner');
    expect((await caller.get(tenant.teamPath)).status).toBe(200);
    expect((await caller.get(elsewhere.teamPath)).status).toBe(404);
    expect((await caller.get(`/environments/${elsewhere.environment}`)).status).toBe(404);
    expect((await caller.patch(`/environments/${tenant.environment}`, { name: 'By account' })).status).toBe(200);
  });

  it('loses authority with a lower role, and all authority with its team', async () => {
    const own = await makeTenant(api);
    const account = await make(own.owner, { team_id: own.team });
    const caller = await keyFor(own.owner, account);
    await own.owner.patch(account.path, { role: 'requester' });
    expect((await caller.patch(`/environments/${own.environment}`, { name: 'x' })).status).toBe(403);
    await api.rows('update teams set deleted_at = now() where id = ?', [own.team]);
    expect((await caller.get(`/environments/${own.environment}`)).status).toBe(403);
    expect((await whoami(caller)).status).toBe(403);
  });
});

describe('a service account that a user owns', () => {
  it('is visible only to its owner, and not to administrators or its owner’s teams', async () => {
    const user = await api.addUser('maintainer');
    const account = await make(user, oneself(user));
    const { api_key: key } = (await user.make(`${account.path}/api-keys`, { name: 'ci' })) as unknown as {
      api_key: { id: string };
    };
    await join(tenant, user, 'member', 'member');
    const itself = await keyFor(user, account);
    for (const caller of [root, tenant.owner, itself])
      for (const [method, path, body] of everything(account.path, key.id))
        expect((await caller.send(method, path, body)).status, `${method} ${path}`).toBe(404);
    for (const [method, path, body] of everything(account.path, key.id)) {
      const rotated = method === 'DELETE' && path.endsWith(key.id);
      const { status, text } = await user.send(method, path, body);
      expect(rotated ? [409] : [200, 201, 204], `${method} ${path}: ${text}`).toContain(status);
    }
  });

  it('is not a member of its owner’s teams', async () => {
    const caller = await keyFor(tenant.owner, await make(tenant.owner, oneself(tenant.owner)));
    expect((await whoami(caller)).body).toMatchObject({ teams: [], organizations: [] });
    expect((await caller.get(tenant.teamPath)).status).toBe(404);
  });

  it('stays active when its owner is disabled, and can then be transferred by users who may manage users', async () => {
    const [user, heir] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    const account = await make(user, oneself(user));
    const caller = await keyFor(user, account);
    const body = { owner: oneself(heir) };
    expect((await root.post(`${account.path}/transfer`, body)).status).toBe(404);
    await root.put(`/users/${user.id}`, { enabled: false });
    expect((await whoami(caller)).status).toBe(200);
    const operator = await api.addUser('operator');
    expect((await operator.get(account.path)).status).toBe(404);
    expect((await operator.post(`${account.path}/transfer`, body)).status).toBe(404);
    expect((await root.get(account.path)).status).toBe(200);
    expect((await root.patch(account.path, { name: 'x' })).status).toBe(404);
    expect((await root.get(`${account.path}/api-keys`)).status).toBe(404);
    expect((await root.get(`${accounts}?owner_user_id=${user.id}`)).body.service_accounts).toHaveLength(1);
    expect((await root.post(`${account.path}/transfer`, body)).body).toMatchObject({ owner: { user_id: heir.id } });
    expect((await root.get(account.path)).status).toBe(404);
    expect((await heir.get(account.path)).status).toBe(200);
  });

  it('cannot be managed by its owner once the owner’s role is too low', async () => {
    const user = await api.addUser('operator');
    const account = await make(user, oneself(user), 'operator');
    await root.put(`/users/${user.id}`, { role: 'maintainer' });
    expect((await user.post(`${account.path}/api-keys`, { name: 'x' })).status).toBe(403);
    expect((await user.patch(account.path, { role: 'maintainer' })).status).toBe(200);
    expect((await user.post(`${account.path}/api-keys`, { name: 'x' })).status).toBe(201);
    await root.put(`/users/${user.id}`, { role: 'requester' });
    expect((await user.get(account.path)).status).toBe(403);
  });
});

describe('a key of a service account', () => {
  it('cannot be created or rotated by a caller with less authority than the account, but can be revoked', async () => {
    const account = await make(root, ownTeam(), 'admin');
    const { api_key: key } = (await root.make(`${account.path}/api-keys`, { name: 'ci' })) as unknown as {
      api_key: { id: string };
    };
    const { owner } = tenant;
    const keys = `${account.path}/api-keys`;
    expect((await owner.post(keys, { name: 'x' })).status).toBe(403);
    expect((await owner.post(`${keys}/${key.id}/rotate`, {})).status).toBe(403);
    expect((await owner.delete(`${keys}/${key.id}`)).status).toBe(204);
    expect((await owner.post(`${account.path}/disable`)).status).toBe(200);
    expect((await owner.post(`${account.path}/enable`)).status).toBe(403);
    expect((await root.post(`${account.path}/enable`)).status).toBe(200);
  });

  it('is found only under its own account', async () => {
    const [one, other] = [await make(tenant.owner, ownTeam()), await make(tenant.owner, ownTeam())];
    const { api_key: key } = (await tenant.owner.make(`${one.path}/api-keys`, { name: 'ci' })) as unknown as {
      api_key: { id: string };
    };
    expect((await tenant.owner.get(`${one.path}/api-keys/${key.id}`)).body).toMatchObject({
      kind: 'service_account',
      state: 'active',
      issued_by: tenant.owner.id,
    });
    for (const [method, more] of [
      ['GET', ''],
      ['POST', '/rotate'],
      ['DELETE', ''],
    ] as const)
      expect((await tenant.owner.send(method, `${other.path}/api-keys/${key.id}${more}`)).status).toBe(404);
    expect((await tenant.owner.get(`/profile/api-keys/${key.id}`)).status).toBe(404);
  });

  it('lets the account list and revoke its own keys, but not create any', async () => {
    const account = await make(tenant.owner, ownTeam());
    const caller = await keyFor(tenant.owner, account);
    const { body } = await caller.get('/profile/api-keys');
    expect(body.api_keys).toHaveLength(1);
    const [{ id }] = body.api_keys;
    expect((await caller.post('/profile/api-keys', { name: 'x' })).status).toBe(403);
    expect((await caller.post(`/profile/api-keys/${id}/rotate`, {})).status).toBe(403);
    expect((await caller.post('/profile/api-key/regenerate', {})).status).toBe(403);
    expect((await caller.delete(`/profile/api-keys/${id}`)).status).toBe(204);
    expect((await whoami(caller)).status).toBe(401);
  });

  it('has the owner, or else its creator, as responsible user', async () => {
    const user = await api.addUser('maintainer');
    const personal = await make(user, oneself(user));
    await keyFor(user, personal);
    const [row] = await api.rows('select issued_by from api_keys where principal_id = ?', [personal.id]);
    expect(row).toEqual({ issued_by: user.id });
    const [chief, worker] = [await make(root, ownTeam(), 'admin'), await make(root, ownTeam())];
    await keyFor(await keyFor(root, chief), worker);
    const [made] = await api.rows('select issued_by from api_keys where principal_id = ?', [worker.id]);
    expect(made).toEqual({ issued_by: root.id });
  });
});

describe('a service account as caller', () => {
  it('manages the accounts of its team if its role makes it an owner, but none above its own role', async () => {
    const chief = await keyFor(root, await make(root, ownTeam(), 'admin'));
    const made = await make(chief, ownTeam(), 'operator');
    expect((await whoami(await keyFor(chief, made))).status).toBe(200);
    expect(
      (await chief.get(`${accounts}?limit=200`)).body.service_accounts.map(({ id }: { id: string }) => id),
    ).toContain(made.id);
    expect((await chief.delete(made.path)).status).toBe(204);
    const elsewhere = await makeTenant(api);
    const body = { name: 'x', role: 'requester' };
    expect((await chief.post(accounts, { ...body, owner: { team_id: elsewhere.team } })).status).toBe(404);
    expect((await chief.post(accounts, { ...body, owner: oneself(chief) })).status).toBe(403);
  });

  it('manages no accounts if its role does not make it an owner', async () => {
    const caller = await keyFor(tenant.owner, await make(tenant.owner, ownTeam()));
    const other = await make(tenant.owner, ownTeam());
    expect((await caller.get(other.path)).status).toBe(403);
    expect((await caller.get(accounts)).body.service_accounts).toEqual([]);
    expect((await caller.post(`${other.path}/api-keys`, { name: 'x' })).status).toBe(403);
  });

  it('cannot change its own authority', async () => {
    const account = await make(root, ownTeam(), 'admin');
    const caller = await keyFor(root, account);
    expect((await caller.patch(account.path, { role: 'requester' })).status).toBe(403);
    for (const step of ['disable', 'enable']) expect((await caller.post(`${account.path}/${step}`)).status).toBe(403);
    const body = { owner: { team_id: (await makeTenant(api)).team } };
    expect((await caller.post(`${account.path}/transfer`, body)).status).toBe(403);
    expect((await caller.delete(account.path)).status).toBe(403);
    expect((await caller.patch(account.path, { name: 'Renamed' })).status).toBe(200);
  });
});

describe('a list of service accounts', () => {
  it('has only the accounts that the caller may manage, in pages', async () => {
    const own = await makeTenant(api);
    const user = own.owner;
    const mine = [];
    for (let index = 0; index < 3; index += 1)
      mine.push(await make(user, index === 1 ? oneself(user) : { team_id: own.team }));
    const member = await api.addUser('maintainer');
    await join(own, member, 'admin', 'admin');
    const ids = (answer: { body: { service_accounts: { id: string }[] } }) =>
      answer.body.service_accounts.map(({ id }) => id);
    const first = await user.get(`${accounts}?limit=2`);
    const second = await user.get(`${accounts}?limit=2&cursor=${first.body.next_cursor}`);
    expect([...ids(first), ...ids(second)]).toEqual(mine.map(({ id }) => id).reverse());
    expect(second.body.next_cursor).toBeNull();
    expect(ids(await user.get(`${accounts}?owner_user_id=${user.id}`))).toEqual([mine[1]?.id]);
    expect(ids(await user.get(`${accounts}?owner_team_id=${own.team}`))).toEqual([mine[2]?.id, mine[0]?.id]);
    expect(ids(await member.get(accounts))).toEqual([]);
    const all = ids(await root.get(`${accounts}?limit=200`));
    expect(all).toContain(mine[0]?.id);
    expect(all).not.toContain(mine[1]?.id);
    await user.post(`${mine[0]?.path}/disable`);
    expect(ids(await user.get(`${accounts}?enabled=false`))).toEqual([mine[0]?.id]);
  });
});

describe('disabling or deleting a service account', () => {
  it('takes effect from the next request on, and enabling makes the keys valid again', async () => {
    const account = await make(tenant.owner, ownTeam());
    const caller = await keyFor(tenant.owner, account);
    expect((await tenant.owner.post(`${account.path}/disable`)).body).toMatchObject({ enabled: false, revision: 2 });
    expect((await whoami(caller)).status).toBe(401);
    expect((await tenant.owner.post(`${account.path}/disable`)).body).toMatchObject({ enabled: false, revision: 2 });
    expect((await tenant.owner.post(`${account.path}/enable`)).body).toMatchObject({ enabled: true, revision: 3 });
    expect((await whoami(caller)).status).toBe(200);
    const [row] = await api.rows('select eligibility_generation from principals where id = ?', [account.id]);
    expect(row).toEqual({ eligibility_generation: 2 });
    expect((await tenant.owner.delete(account.path)).status).toBe(204);
    expect((await whoami(caller)).status).toBe(401);
    expect((await tenant.owner.get(account.path)).status).toBe(404);
    expect((await tenant.owner.delete(account.path)).status).toBe(404);
    const active = 'select 1 from api_keys where principal_id = ? and revoked_at is null';
    expect(await api.rows(active, [account.id])).toEqual([]);
  });

  it('never leaves the installation without an administrator', async () => {
    const own = await startApi();
    try {
      const admin = await own.addUser('admin');
      const { id } = await admin.make(accounts, { name: 'root', role: 'admin', owner: { user_id: admin.id } });
      await own.rows(`update principals set enabled = false where role = 'admin' and kind = 'user' and id <> ?`, [
        admin.id,
      ]);
      const { key } = (await admin.make(`${accounts}/${id}/api-keys`, { name: 'x' })) as unknown as { key: string };
      const account = new ApiUser(own, { 'x-api-key': key }, { id, email: '' });
      expect((await account.put(`/users/${admin.id}`, { role: 'maintainer' })).status).toBe(200);
      for (const answer of [
        await admin.patch(`${accounts}/${id}`, { role: 'requester' }),
        await admin.post(`${accounts}/${id}/disable`),
        await admin.delete(`${accounts}/${id}`),
      ])
        expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('last administrator') } });
      const keys = await admin.get(`${accounts}/${id}/api-keys`);
      expect((await admin.delete(`${accounts}/${id}/api-keys/${keys.body.api_keys[0].id}`)).status).toBe(204);
      expect((await admin.delete(`${accounts}/${id}`)).status).toBe(409);
    } finally {
      await own.close();
    }
  });
});

describe('the last two administrators, both service accounts', () => {
  it('cannot both be disabled, deleted or demoted by concurrent requests', async () => {
    const own = await startApi();
    try {
      const owner = await own.addUser('admin');
      const body = { role: 'admin', owner: { user_id: owner.id } };
      const [one, other] = await Promise.all(['a', 'b'].map((name) => owner.make(accounts, { ...body, name })));
      await own.rows(`update principals set role = 'operator' where id = ?`, [owner.id]);
      const steps = [
        (path: string) => owner.post(`${path}/disable`),
        (path: string) => owner.patch(path, { role: 'maintainer' }),
        (path: string) => owner.delete(path),
      ];
      for (const step of steps) {
        const answers = await Promise.all([one!, other!].map(({ id }) => step(`${accounts}/${id}`)));
        expect(answers.filter(({ status }) => status === 409)).toHaveLength(1);
        await own.rows(`update principals set enabled = true, role = 'admin', deleted_at = null where kind <> 'user'`);
      }
    } finally {
      await own.close();
    }
  });
});

describe('transferring a service account', () => {
  it('revokes its keys, ends its memberships, increases its generation, and is recorded in the audit', async () => {
    const [user, heir] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    const account = await make(user, oneself(user));
    const caller = await keyFor(user, account);
    await letIntoOrganization(user, account);
    await acquaint(user, heir);
    await tenant.owner.put(`${tenant.teamPath}/members/${account.id}`, { role: 'admin' });
    expect((await caller.get(tenant.teamPath)).status).toBe(200);
    const answer = await user.post(`${account.path}/transfer`, { owner: oneself(heir), expected_revision: 1 });
    expect(answer.body).toMatchObject({ name: 'deploy', role: 'maintainer', owner: { user_id: heir.id }, revision: 2 });
    expect((await whoami(caller)).status).toBe(401);
    expect((await user.get(account.path)).status).toBe(404);
    const fresh = await keyFor(heir, account);
    expect((await whoami(fresh)).body).toMatchObject({ teams: [], organizations: [] });
    const [row] = await api.rows('select eligibility_generation from principals where id = ?', [account.id]);
    expect(row).toEqual({ eligibility_generation: 2 });
    const [record] = await api.rows(
      `select before, after from audit_records where action = 'service_account.transferred' and resource_id = ?`,
      [account.id],
    );
    expect(record).toEqual({
      before: { owner: { user_id: user.id, team_id: null } },
      after: { owner: { user_id: heir.id, team_id: null }, keys_revoked: 1, memberships_ended: 2 },
    });
  });

  it('transferring a service account to a team requires an owner of the team', async () => {
    const user = await api.addUser('maintainer');
    const account = await make(user, oneself(user));
    const transfer = () => user.post(`${account.path}/transfer`, { owner: ownTeam() });
    expect((await transfer()).status).toBe(404);
    await join(tenant, user, 'member', 'admin');
    expect((await transfer()).status).toBe(403);
    await join(tenant, user, 'member', 'owner');
    expect((await transfer()).body).toMatchObject({ owner: { user_id: null, team_id: tenant.team } });
    expect((await transfer()).status).toBe(409);
    const caller = await keyFor(tenant.owner, account);
    expect((await whoami(caller)).body.teams).toEqual([{ id: tenant.team, role: 'admin' }]);
  });

  it('is refused for missing or disabled users, users with too low a role, and archived teams', async () => {
    const account = await make(root, ownTeam(), 'operator');
    const to = (owner: Owner) => root.post(`${account.path}/transfer`, { owner });
    expect((await to({ user_id: newId() })).status).toBe(403);
    expect((await to({ team_id: newId() })).status).toBe(404);
    const disabled = await api.addUser('admin');
    await root.put(`/users/${disabled.id}`, { enabled: false });
    expect(await to(oneself(disabled))).toMatchObject({ status: 409, body: { error: /disabled/ } });
    for (const role of ['requester', 'maintainer'] as const)
      expect((await to(oneself(await api.addUser(role)))).body.error).toContain('lower its role first');
    const archived = await makeTenant(api);
    await archived.owner.post(`${archived.teamPath}/archive`);
    expect((await to({ team_id: archived.team })).status).toBe(409);
    expect((await to(oneself(await api.addUser('operator')))).status).toBe(200);
  });

  it('succeeds once, and a concurrent change happens before it or not at all', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [user, heir, other] = await Promise.all(['a', 'b', 'c'].map(() => api.addUser('maintainer')));
      const account = await make(user!, oneself(user!));
      for (const each of [heir!, other!]) await acquaint(user!, each);
      const [first, second, ...keys] = await Promise.all([
        user!.post(`${account.path}/transfer`, { owner: oneself(heir!) }),
        user!.post(`${account.path}/transfer`, { owner: oneself(other!) }),
        ...Array.from({ length: 6 }, () => user!.post(`${account.path}/api-keys`, { name: 'race' })),
      ]);
      expect([first!.status, second!.status].sort()).toEqual([200, 404]);
      for (const { status } of keys) expect([201, 404]).toContain(status);
      const left = 'select 1 from api_keys where principal_id = ? and revoked_at is null';
      expect(await api.rows(left, [account.id])).toEqual([]);
    }
  });
});

describe('a service account among members', () => {
  const membersOf = (place: Tenant) => `/organizations/${place.organization}/members`;
  const owned = async (role = 'maintainer') => {
    const user = await api.addUser(role === 'admin' ? 'admin' : 'operator');
    const account = await make(user, oneself(user), role);
    return { user, ...account, caller: await keyFor(user, account) };
  };
  const letIn = (account: { id: string }, role: string, place = tenant) =>
    place.owner.put(`${place.teamPath}/members/${account.id}`, { role });

  it('joins an organization as a member, and a team with the role of its platform role', async () => {
    const account = await owned();
    await join(tenant, account.user, 'owner');
    expect((await letIn(account, 'admin')).status).toBe(409);
    for (const role of ['owner', 'admin'])
      expect((await account.user.put(`${membersOf(tenant)}/${account.id}`, { role })).status).toBe(409);
    const joined = await account.user.put(`${membersOf(tenant)}/${account.id}`, { role: 'member' });
    expect(joined.body).toMatchObject({ type: 'service_account', user_id: account.id, email: null, role: 'member' });
    expect((await account.caller.get(tenant.teamPath)).status).toBe(404);
    for (const role of ['owner', 'member', 'viewer']) {
      const answer = await letIn(account, role);
      expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('is admin in a team') } });
    }
    expect((await letIn(account, 'admin')).body).toMatchObject({ type: 'service_account', role: 'admin' });
    expect((await account.caller.patch(tenant.teamPath, { name: 'By account' })).status).toBe(200);
    const { body } = await tenant.owner.get(`${tenant.teamPath}/members`);
    expect(body.members.map(({ user_id: id }: { user_id: string }) => id)).toContain(account.id);
  });

  it('loses access from the next request on when it leaves', async () => {
    const account = await owned();
    await letIntoOrganization(account.user, account);
    await letIn(account, 'admin');
    expect((await tenant.owner.delete(`${tenant.teamPath}/members/${account.id}`)).status).toBe(204);
    expect((await account.caller.get(tenant.teamPath)).status).toBe(404);
    await letIn(account, 'admin');
    expect((await tenant.owner.delete(`${membersOf(tenant)}/${account.id}`)).status).toBe(204);
    expect((await whoami(account.caller)).body).toMatchObject({ teams: [], organizations: [] });
  });

  it('cannot be added by a caller who may not assign the role that it would have', async () => {
    const chief = await owned('admin');
    const admin = await api.addUser('maintainer');
    await join(tenant, admin, 'admin', 'admin');
    await letIntoOrganization(chief.user, chief);
    expect((await admin.put(`${tenant.teamPath}/members/${chief.id}`, { role: 'owner' })).status).toBe(403);
    expect((await letIn(chief, 'owner')).status).toBe(200);
  });

  it('cannot join another team if a team owns it', async () => {
    const account = await make(tenant.owner, ownTeam());
    const elsewhere = await makeTenant(api);
    await join(elsewhere, tenant.owner, 'admin');
    const answer = await tenant.owner.put(`${membersOf(elsewhere)}/${account.id}`, { role: 'member' });
    expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('in that team alone') } });
    expect((await letIn(account, 'admin', elsewhere)).status).toBe(409);
  });

  it('does not let a caller exceed their authority in a team by a role or a key', async () => {
    const account = await owned('requester');
    await letIntoOrganization(account.user, account);
    await letIn(account, 'member');
    const keys = `${account.path}/api-keys`;
    expect((await account.user.post(keys, { name: 'x' })).status).toBe(403);
    await join(tenant, account.user, 'member', 'member');
    expect((await account.user.post(keys, { name: 'x' })).status).toBe(201);
    const raise = () => account.user.patch(account.path, { role: 'maintainer' });
    expect(await raise()).toMatchObject({ status: 403, body: { error: expect.stringContaining('admin of the team') } });
    await join(tenant, account.user, 'member', 'admin');
    expect((await raise()).status).toBe(200);
    expect((await whoami(account.caller)).body.teams).toEqual([{ id: tenant.team, role: 'admin' }]);
    const { body } = await tenant.owner.get(`${tenant.teamPath}/members?limit=200`);
    expect(body.members.find(({ user_id: id }: { user_id: string }) => id === account.id)).toMatchObject({
      role: 'admin',
    });
    await join(tenant, account.user, 'member', 'viewer');
    const { body: held } = await account.user.get(keys);
    expect((await account.user.post(`${keys}/${held.api_keys[0].id}/rotate`, {})).status).toBe(403);
    expect((await account.user.delete(`${keys}/${held.api_keys[0].id}`)).status).toBe(204);
  });

  it('does not count as a remaining owner of a team', async () => {
    const own = await makeTenant(api);
    const chief = await owned('admin');
    await letIntoOrganization(chief.user, chief, own);
    expect((await letIn(chief, 'owner', own)).status).toBe(200);
    expect((await own.owner.delete(`${own.teamPath}/members/${own.owner.id}`)).status).toBe(409);
    expect((await root.delete(`${membersOf(own)}/${chief.id}`)).status).toBe(204);
  });
});

describe('disabling an account while it is used', () => {
  it('commits no command of the account after it was disabled', async () => {
    for (let round = 0; round < 3; round += 1) {
      const account = await make(tenant.owner, ownTeam());
      const caller = await keyFor(tenant.owner, account);
      const changes = Array.from({ length: 8 }, (_, index) =>
        caller.patch(`/environments/${tenant.environment}`, { name: `E${round}-${index}` }),
      );
      const [disabled, ...answers] = await Promise.all([tenant.owner.post(`${account.path}/disable`), ...changes]);
      expect(disabled!.status).toBe(200);
      for (const { status } of answers) expect([200, 401]).toContain(status);
      const late = await api.rows(
        `select 1 from audit_records a where a.actor_id = ? and a.outcome = 'committed' and a.at > (
           select max(at) from audit_records where action = 'service_account.disabled' and resource_id = ?)`,
        [account.id, account.id],
      );
      expect(late).toEqual([]);
      expect(await statusOf(whoami(caller))).toBe(401);
    }
  });
});

describe('the audit', () => {
  it('records what was done with accounts and keys under their team, without any key', async () => {
    const own = await makeTenant(api);
    const account = await make(own.owner, { team_id: own.team }, 'requester');
    const issued = (await own.owner.make(`${account.path}/api-keys`, { name: 'ci' })) as unknown as {
      key: string;
      api_key: { id: string };
    };
    const rotated = await own.owner.post(`${account.path}/api-keys/${issued.api_key.id}/rotate`, { overlap: '1h' });
    await own.owner.patch(account.path, { name: 'Renamed', role: 'maintainer' });
    await own.owner.post(`${account.path}/disable`);
    await own.owner.delete(`${account.path}/api-keys/${issued.api_key.id}`);
    await own.owner.delete(account.path);
    const rows = await api.rows<{ action: string }>(
      `select action, team_id, organization_id, before, after from audit_records
        where team_id = ? and resource_type in ('service_accounts', 'api_keys') order by at`,
      [own.team],
    );
    const place = { team_id: own.team, organization_id: own.organization };
    expect(rows).toMatchObject([
      { ...place, action: 'service_account.created', after: { role: 'requester', owner: { team_id: own.team } } },
      { ...place, action: 'api_key.created', after: { principal_id: account.id, kind: 'service_account' } },
      { ...place, action: 'api_key.rotated', after: { replaces: issued.api_key.id } },
      {
        ...place,
        action: 'service_account.updated',
        before: { name: 'deploy', role: 'requester' },
        after: { name: 'Renamed', role: 'maintainer' },
      },
      { ...place, action: 'service_account.disabled', before: { enabled: true }, after: { enabled: false } },
      { ...place, action: 'api_key.revoked' },
      { ...place, action: 'service_account.deleted', before: { name: 'Renamed' } },
    ]);
    const text = JSON.stringify(rows);
    for (const key of [issued.key, rotated.body.key]) expect(text).not.toContain(key.slice(3, 20));
  });
});
