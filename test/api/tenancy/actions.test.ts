import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acquaint, join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

type Shown = { name: string; allowed: boolean; reason: string | null }[];

/** How a client sends each action of a resource. */
type Requests = Readonly<Record<string, (user: ApiUser) => Promise<{ status: number; body: { error: string } }>>>;

async function actionsOf(user: ApiUser, path: string): Promise<Shown> {
  const { status, body, text } = await user.get(path);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  return body.actions;
}

const allowed = (actions: Shown) => actions.filter((action) => action.allowed).map(({ name }) => name);

/** Sends every action that is shown as refused. It must be refused with the shown reason. */
async function expectRefusals(user: ApiUser, path: string, requests: Requests): Promise<string[]> {
  const actions = await actionsOf(user, path);
  expect(actions.map(({ name }) => name)).toEqual(Object.keys(requests));
  for (const { name, allowed: isAllowed, reason } of actions) {
    if (isAllowed) expect(reason).toBeNull();
    else {
      const answer = await requests[name]?.(user);
      expect({ name, status: answer?.status, error: answer?.body.error }).toEqual({
        name,
        status: expect.toSatisfy((status) => [400, 403, 404, 409].includes(status)),
        error: reason,
      });
    }
  }
  return allowed(actions);
}

const key = () => ({ 'idempotency-key': randomUUID() });

function ofOrganization({ organization, owner }: Tenant): Requests {
  const path = `/organizations/${organization}`;
  return {
    update: (user) => user.patch(path, { name: 'Other' }),
    archive: (user) => user.post(`${path}/archive`),
    unarchive: (user) => user.post(`${path}/unarchive`),
    transfer: (user) => user.post(`${path}/transfer`, { new_owner_user_id: user.id }),
    delete: (user) => user.send('DELETE', path, undefined, key()),
    set_members: (user) => user.put(`${path}/members/${owner.id}`, { role: 'member' }),
    remove_members: (user) => user.send('DELETE', `${path}/members/${owner.id}`),
    invite: (user) => user.post(`${path}/invitations`, { email: 'new@example.com' }),
    create_team: (user) => user.post(`${path}/teams`, { name: 'Second' }),
  };
}

function ofTeam({ organization, team, teamPath: path, owner }: Tenant, to = organization): Requests {
  return {
    update: (user) => user.patch(path, { name: 'Other' }),
    archive: (user) => user.post(`${path}/archive`),
    unarchive: (user) => user.post(`${path}/unarchive`),
    transfer: (user) => user.post(`${path}/transfer`, { organization_id: to }),
    delete: (user) => user.send('DELETE', path, undefined, key()),
    set_members: (user) => user.put(`${path}/members/${owner.id}`, { role: 'member' }),
    remove_members: (user) => user.send('DELETE', `${path}/members/${owner.id}`),
    invite: (user) => user.post(`${path}/invitations`, { email: 'new@example.com' }),
    create_project: (user) => user.post('/projects', { team_id: team, name: 'Second' }),
    create_service_account: (user) =>
      user.post('/service-accounts', { name: 'Bot', role: 'requester', owner: { team_id: team } }),
  };
}

function ofProject({ project, team }: Tenant, to = team): Requests {
  const path = `/projects/${project}`;
  return {
    update: (user) => user.patch(path, { name: 'Other' }),
    archive: (user) => user.post(`${path}/archive`),
    unarchive: (user) => user.post(`${path}/unarchive`),
    transfer: (user) => user.post(`${path}/transfer`, { team_id: to }),
    delete: (user) => user.send('DELETE', path, undefined, key()),
    create_environment: (user) =>
      user.post('/environments', { project_id: project, name: 'Second', kind: 'development' }),
  };
}

describe('the actions of an organization, a team and a project', () => {
  test('are all allowed to the owner, except a deletion of something that is not empty', async () => {
    const tenant = await makeTenant(api);
    const { owner, organization, teamPath, project } = tenant;
    for (const [path, requests] of [
      [`/organizations/${organization}`, ofOrganization(tenant)],
      [teamPath, ofTeam(tenant)],
      [`/projects/${project}`, ofProject(tenant)],
    ] as const)
      expect(await expectRefusals(owner, path, requests)).toEqual(
        Object.keys(requests).filter((name) => name !== 'delete'),
      );
  });

  test('are mostly refused to a member and a viewer, with what they lack', async () => {
    const tenant = await makeTenant(api);
    const [member, viewer] = [await api.addUser('maintainer'), await api.addUser('requester')];
    await join(tenant, member, 'member', 'member');
    await join(tenant, viewer, 'member', 'viewer');
    for (const user of [member, viewer]) {
      expect(await expectRefusals(user, `/organizations/${tenant.organization}`, ofOrganization(tenant))).toEqual([]);
      expect(await expectRefusals(user, tenant.teamPath, ofTeam(tenant))).toEqual([]);
      expect(await expectRefusals(user, `/projects/${tenant.project}`, ofProject(tenant))).toEqual([]);
    }
  });

  test("include only those on memberships for an organization's admin outside the team", async () => {
    const tenant = await makeTenant(api);
    const admin = await api.addUser('maintainer');
    await join(tenant, admin, 'admin');
    expect(await expectRefusals(admin, `/organizations/${tenant.organization}`, ofOrganization(tenant))).toEqual([
      'update',
      'set_members',
      'remove_members',
      'invite',
      'create_team',
    ]);
    expect(await expectRefusals(admin, tenant.teamPath, ofTeam(tenant))).toEqual([
      'set_members',
      'remove_members',
      'invite',
    ]);
    expect(await expectRefusals(admin, `/projects/${tenant.project}`, ofProject(tenant))).toEqual([]);
  });

  test('name the archived level that must be unarchived first', async () => {
    const tenant = await makeTenant(api);
    const { owner, organization, teamPath, project } = tenant;
    const other = await owner.make('/organizations', { name: 'Elsewhere' });
    const otherTeam = await owner.make(`/organizations/${other.id}/teams`, { name: 'Elsewhere' });
    const paths = [`/projects/${project}`, teamPath, `/organizations/${organization}`];
    for (const path of paths) expect((await owner.post(`${path}/archive`)).status).toBe(200);
    expect(await expectRefusals(owner, `/projects/${project}`, ofProject(tenant, otherTeam.id))).toEqual(['archive']);
    expect(await expectRefusals(owner, teamPath, ofTeam(tenant, other.id))).toEqual(['archive', 'remove_members']);
    const shown = await actionsOf(owner, `/organizations/${organization}`);
    expect(shown.find(({ name }) => name === 'update')?.reason).toBe(
      'the organization is archived: unarchive it first',
    );
    expect(allowed(shown)).toEqual(['archive', 'unarchive', 'remove_members']);
  });

  test('do not allow a deletion that would be refused, and name what must be deleted first', async () => {
    const tenant = await makeTenant(api);
    const { owner, environment, project } = tenant;
    const path = `/projects/${project}`;
    const reason = async () => (await actionsOf(owner, path)).find(({ name }) => name === 'delete')?.reason;
    expect(await reason()).toMatch(/^the project has environments: .+; delete them first$/);
    await expectRefusals(owner, path, ofProject(tenant));
    const answer = await owner.patch(path, { name: 'Renamed' });
    expect(answer.body.actions).toEqual(await actionsOf(owner, path));
    await owner.send('DELETE', `/environments/${environment}`, undefined, key());
    expect(await reason()).toBeNull();
  });

  test('the actions in the response of a command depend on the memberships that it has changed', async () => {
    const owner = await api.addUser('maintainer');
    const heir = await api.addUser('maintainer');
    await acquaint(owner, heir);
    const organization = await owner.make('/organizations', { name: `Changing ${randomUUID()}` });
    expect(allowed(organization['actions'] as Shown)).toContain('delete');
    const path = `/organizations/${organization.id}`;
    const transferred = await owner.post(`${path}/transfer`, { new_owner_user_id: heir.id });
    expect(transferred.body.actions).toEqual((await owner.get(path)).body.actions);
    expect(allowed(transferred.body.actions)).not.toContain('delete');
  });

  test('are not in lists', async () => {
    const { owner, organization } = await makeTenant(api);
    const lists = await Promise.all(
      ['/organizations', `/organizations/${organization}/teams`, '/projects'].map((path) => owner.get(path)),
    );
    for (const { body } of lists) {
      const [[first]] = Object.values(body) as [{ id: string }[]];
      expect(first).toHaveProperty('id');
      expect(first).not.toHaveProperty('actions');
    }
  });
});

describe('the actions of a service account', () => {
  const requestsOf = (id: string, team: string): Requests => {
    const path = `/service-accounts/${id}`;
    return {
      update: (user) => user.patch(path, { name: 'Other' }),
      change_role: (user) => user.patch(path, { role: 'maintainer' }),
      enable: (user) => user.post(`${path}/enable`),
      disable: (user) => user.post(`${path}/disable`),
      transfer: (user) => user.post(`${path}/transfer`, { owner: { team_id: team } }),
      delete: (user) => user.send('DELETE', path),
      create_key: (user) => user.post(`${path}/api-keys`, { name: 'ci' }),
      revoke_key: (user) => user.send('DELETE', `${path}/api-keys/${randomUUID()}`),
    };
  };

  test('depend on the role of the account, as nobody may enable one with more authority than their own', async () => {
    const { owner, team } = await makeTenant(api);
    const account = await owner.make('/service-accounts', {
      name: 'Bot',
      role: 'maintainer',
      owner: { team_id: team },
    });
    const path = `/service-accounts/${account.id}`;
    const requests = requestsOf(account.id, team);
    expect(await expectRefusals(owner, path, requests)).toEqual(Object.keys(requests));
    await api.rows("update principals set role = 'operator' where id = ?", [account.id]);
    await owner.post(`${path}/disable`);
    const weaker = await expectRefusals(owner, path, requests);
    expect(weaker).toEqual(['update', 'change_role', 'disable', 'transfer', 'delete', 'revoke_key']);
  });
});

describe('the actions of a user', () => {
  const requestsOf = (id: string): Requests => {
    const path = `/users/${id}`;
    return {
      update: (user) => user.put(path, { name: 'Other' }),
      change_role: (user) => user.put(path, { role: 'maintainer' }),
      enable: (user) => user.put(path, { enabled: true }),
      disable: (user) => user.put(path, { enabled: false }),
      confirm_email: (user) => user.post(`${path}/email-confirmation`),
      issue_email_confirmation: (user) => user.post(`${path}/email-confirmation-token`),
      reset_password: (user) => user.post(`${path}/password-reset`),
      delete: (user) => user.send('DELETE', path),
    };
  };

  test('are all allowed to an administrator, except those that end their own authority', async () => {
    const [root, second, other] = [
      await api.addUser('admin'),
      await api.addUser('admin'),
      await api.addUser('requester'),
    ];
    await root.put(`/users/${other.id}`, { email: `changed-${randomUUID()}@example.com` });
    const all = Object.keys(requestsOf(other.id));
    expect(await expectRefusals(root, `/users/${other.id}`, requestsOf(other.id))).toEqual(all);
    expect(await expectRefusals(root, `/users/${root.id}`, requestsOf(root.id))).toEqual([
      'update',
      'enable',
      'confirm_email',
      'delete',
    ]);
    await root.put(`/users/${second.id}`, { enabled: false });
    const alone = await actionsOf(root, `/users/${root.id}`);
    expect(alone.find(({ name }) => name === 'delete')?.reason).toContain('this is the last administrator');
  });

  test('do not allow the deletion of the only owner of an organization', async () => {
    const [root, owner] = [await api.addUser('admin'), await api.addUser('maintainer')];
    await owner.make('/organizations', { name: `Owned ${randomUUID()}` });
    const may = await expectRefusals(root, `/users/${owner.id}`, requestsOf(owner.id));
    expect(may).not.toContain('delete');
  });

  test('allow everybody else only to change their own details', async () => {
    const user = await api.addUser('operator');
    expect(await expectRefusals(user, `/users/${user.id}`, requestsOf(user.id))).toEqual(['update', 'enable']);
  });
});

describe('the actions of a worker pool', () => {
  test('do not allow the deletion of the pool "default"', async () => {
    const root = await api.addUser('admin');
    const path = '/worker-pools/default';
    await root.make('/worker-pools', { name: 'default' });
    const may = await expectRefusals(root, path, {
      update: (user) => user.patch(path, {}),
      delete: (user) => user.send('DELETE', path),
    });
    expect(may).toEqual(['update']);
  });
});
