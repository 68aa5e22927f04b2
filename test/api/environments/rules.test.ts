import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addServiceAccount } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** The right to weaken the rules that protect an environment, and the order of the refusals. */
let api: TestApi;
let tenant: Tenant;
let teamAdmin: ApiUser;
let teamMember: ApiUser;
/** An admin only of the organization, who has the rights of a member in its teams. */
let organizationAdmin: ApiUser;
/** An admin of the organization and of the team. */
let bothAdmin: ApiUser;
let platformAdmin: ApiUser;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  platformAdmin = await api.addUser('admin');
  teamAdmin = await joined('member', 'admin');
  teamMember = await joined('member', 'member');
  organizationAdmin = await joined('admin');
  bothAdmin = await joined('admin', 'admin');
});
afterAll(() => api?.close());

async function joined(organization: 'member' | 'admin', team?: 'member' | 'admin'): Promise<ApiUser> {
  const user = await api.addUser('maintainer');
  await join(tenant, user, organization, team);
  return user;
}

const strict = { required: 2, when: 'changes', allow_self: false };
const protectedRules = {
  kind: 'staging',
  approval_policy: strict,
  isolation: 'sandbox',
  allowed_options: null,
  plan_secrets: null,
};
let made = 0;

/** Creates a protected environment of the tenant and answers its path. */
async function makeEnvironment(rules: object = {}): Promise<string> {
  const body = { project_id: tenant.project, name: `Protected ${++made}`, ...protectedRules, ...rules };
  return `/environments/${(await tenant.owner.make('/environments', body)).id}`;
}

const weakenings: [what: string, change: object, field: string][] = [
  ['fewer approvals', { approval_policy: { ...strict, required: 1 } }, 'approval_policy'],
  ['approvals of less', { approval_policy: { ...strict, when: 'destroys' } }, 'approval_policy'],
  ['more approvals of less', { approval_policy: { ...strict, required: 5, when: 'never' } }, 'approval_policy'],
  ['self-approval', { approval_policy: { ...strict, allow_self: true } }, 'approval_policy'],
  [
    'more approvals and self-approval',
    { approval_policy: { ...strict, required: 3, allow_self: true } },
    'approval_policy',
  ],
  ['another kind', { kind: 'development' }, 'kind'],
  ['a stricter kind', { kind: 'production' }, 'kind'],
  ['no demand for a sandbox', { isolation: null }, 'isolation'],
];

describe.each(weakenings)('a request for %s', (_, change, field) => {
  it('answers 403 to an admin of the team and changes nothing', async () => {
    const path = await makeEnvironment();
    const answer = await teamAdmin.patch(path, { ...change, name: 'Other' });
    expect(answer).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining(`permission denied: ${field}`) },
    });
    expect((await teamAdmin.get(path)).body).toMatchObject({ ...protectedRules, revision: 1 });
  });

  it('answers 403 rather than 409 for a stale revision or an archived environment', async () => {
    const path = await makeEnvironment();
    expect(await teamAdmin.patch(path, { ...change, expected_revision: 7 })).toMatchObject({ status: 403 });
    await tenant.owner.post(`${path}/archive`);
    expect(await teamAdmin.patch(path, change)).toMatchObject({ status: 403 });
    expect(await tenant.owner.patch(path, change)).toMatchObject({ status: 409 });
  });

  it('answers 403 to callers who may not write the environment, including admins of the organization', async () => {
    const path = await makeEnvironment();
    for (const user of [teamMember, organizationAdmin])
      expect(await user.patch(path, change)).toMatchObject({ status: 403 });
  });

  it('answers 200 to owners of the team, admins of team and organization, and platform administrators', async () => {
    for (const user of [tenant.owner, bothAdmin, platformAdmin])
      expect(await user.patch(await makeEnvironment(), change)).toMatchObject({ status: 200, body: change });
  });
});

describe('an admin of the team', () => {
  it.each([
    ['the same rules again', protectedRules],
    ['more approvals', { approval_policy: { ...strict, required: 3 } }],
    ['approvals of all that changes, which "always" asks as well', { approval_policy: { ...strict, when: 'always' } }],
  ])('may request %s', async (_, change) => {
    expect(await teamAdmin.patch(await makeEnvironment(), change)).toMatchObject({ status: 200, body: change });
  });

  it('may forbid self-approval, and may replace "always" by "changes"', async () => {
    const path = await makeEnvironment({ approval_policy: { ...strict, when: 'always', allow_self: true } });
    expect(await teamAdmin.patch(path, { approval_policy: strict })).toMatchObject({ status: 200 });
  });

  it('gets 409 for a stale revision if nothing is weakened', async () => {
    const path = await makeEnvironment();
    expect(await teamAdmin.patch(path, { name: 'Other', expected_revision: 7 })).toMatchObject({ status: 409 });
  });
});

describe('a service account of the team', () => {
  it.each([
    ['maintainer', 403],
    ['admin', 200],
  ] as const)('a service account of the team with the role %s gets %i for fewer approvals', async (role, status) => {
    const { key, id } = await addServiceAccount({ url: '', orm: api.services.orm }, role, {}, { teamId: tenant.team });
    const account = new ApiUser(api, { 'x-api-key': key }, { id, email: '' });
    const change = { approval_policy: { ...strict, required: 1 } };
    expect(await account.patch(await makeEnvironment(), change)).toMatchObject({ status });
  });
});

describe('a change of the rules', () => {
  const eventsOf = (path: string) =>
    api.rows(
      `select type, data, team_id, organization_id, actor_id from domain_events
        where subject_id = ? and type = 'environment.protection_changed' order by sequence`,
      [path.split('/').at(-1)],
    );

  it('publishes an event with what was weakened, and leaves an audit record', async () => {
    const path = await makeEnvironment();
    const change = { kind: 'production', approval_policy: { required: 1 }, isolation: null };
    expect(await tenant.owner.patch(path, change)).toMatchObject({ status: 200 });
    const after = { ...change, approval_policy: { ...strict, required: 1 }, allowed_options: null, plan_secrets: null };
    expect(await eventsOf(path)).toEqual([
      {
        type: 'environment.protection_changed',
        data: { before: protectedRules, after, weakened: ['kind', 'approval_policy', 'isolation'] },
        team_id: tenant.team,
        organization_id: tenant.organization,
        actor_id: tenant.owner.id,
      },
    ]);
    const [record] = (await platformAdmin.get(`/audit?resource_id=${path.split('/').at(-1)}`)).body.audit_records;
    expect(record).toMatchObject({ action: 'environment.updated', before: { approval_required: 2 } });
  });

  it('publishes an event with an empty `weakened` if the rules become stricter', async () => {
    const path = await makeEnvironment();
    await teamAdmin.patch(path, { approval_policy: { required: 3 } });
    expect(await eventsOf(path)).toMatchObject([{ data: { weakened: [] } }]);
  });

  it('publishes no event if only other fields change', async () => {
    const path = await makeEnvironment();
    await teamAdmin.patch(path, { name: 'Renamed', approval_policy: strict });
    expect(await eventsOf(path)).toEqual([]);
  });
});

describe('a request that changes a part of the policy', () => {
  it.each([
    ['required', { required: 3 }],
    ['when', { when: 'destroys' }],
    ['allow_self', { allow_self: true }],
    ['nothing of it', {}],
  ])('changes %s and keeps the rest', async (_, part) => {
    const path = await makeEnvironment();
    expect((await tenant.owner.patch(path, { approval_policy: part })).body).toMatchObject({
      approval_policy: { ...strict, ...part },
    });
  });

  it('keeps a permission of self-approval that it does not mention', async () => {
    const path = await makeEnvironment({ approval_policy: { ...strict, allow_self: true } });
    const change = { approval_policy: { required: 3, when: 'always' } };
    expect((await teamAdmin.patch(path, change)).body.approval_policy).toEqual({
      required: 3,
      when: 'always',
      allow_self: true,
    });
  });

  it('answers 400 for a member that no policy has', async () => {
    const change = { approval_policy: { require: 3 } };
    expect(await tenant.owner.patch(await makeEnvironment(), change)).toMatchObject({ status: 400 });
  });
});

describe('a production environment', () => {
  it('requires an approval if it is created without a policy', async () => {
    const body = { project_id: tenant.project, name: 'Live', kind: 'production' };
    expect(await tenant.owner.make('/environments', body)).toMatchObject({
      approval_policy: { required: 1, when: 'changes', allow_self: false },
    });
  });
});

describe('an environment that becomes production', () => {
  const open = { required: 0, when: 'never', allow_self: false };

  it('gets the default policy of production if its own policy is weaker and the request has none', async () => {
    const path = await makeEnvironment({ approval_policy: { ...open, allow_self: true } });
    expect((await tenant.owner.patch(path, { kind: 'production' })).body).toMatchObject({
      kind: 'production',
      approval_policy: { required: 1, when: 'changes', allow_self: true },
    });
  });

  it('gets the default of production for members of the policy that the request omits', async () => {
    const path = await makeEnvironment({ approval_policy: open });
    const change = { kind: 'production', approval_policy: { allow_self: true } };
    expect((await tenant.owner.patch(path, change)).body).toMatchObject({
      approval_policy: { required: 1, when: 'changes', allow_self: true },
    });
  });

  it('keeps a policy that is at least as strict', async () => {
    const path = await makeEnvironment();
    expect((await tenant.owner.patch(path, { kind: 'production' })).body).toMatchObject({ approval_policy: strict });
  });

  it('requires no approval if an owner requests that explicitly', async () => {
    const path = await makeEnvironment();
    const change = { kind: 'production', approval_policy: open };
    expect(await tenant.owner.patch(path, change)).toMatchObject({ status: 200, body: change });
  });
});
