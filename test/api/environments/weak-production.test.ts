import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** The right to create a production environment that requires fewer approvals than the default of production. */
let api: TestApi;
let tenant: Tenant;
let teamAdmin: ApiUser;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  teamAdmin = await joined('member');
});
afterAll(() => api?.close());

async function joined(organization: 'member' | 'admin'): Promise<ApiUser> {
  const user = await api.addUser('maintainer');
  await join(tenant, user, organization, 'admin');
  return user;
}

let made = 0;
const create = (user: ApiUser, rules: object) =>
  user.post('/environments', { project_id: tenant.project, name: `Made ${++made}`, kind: 'production', ...rules });

const weak = { required: 0, when: 'never', allow_self: false };
const usual = { required: 1, when: 'changes', allow_self: false };

describe('a new production environment', () => {
  it.each([
    ['without approval', weak],
    ['with approval of destroys alone', { ...usual, required: 3, when: 'destroys' }],
    ['with self-approval', { ...usual, allow_self: true }],
  ])('%s is refused to an admin of the team, and created by users who may weaken protection', async (_, policy) => {
    const refused = await create(teamAdmin, { approval_policy: policy });
    expect([refused.status, refused.headers['x-error-code']]).toEqual([403, 'permission_denied']);
    expect(refused.body.error).toMatch(
      /^permission denied: approval_policy: only an owner of the team.* may weaken it$/,
    );
    for (const user of [tenant.owner, await joined('admin'), await api.addUser('admin')])
      expect((await create(user, { approval_policy: policy })).body).toMatchObject({ approval_policy: policy });
  });

  it('cannot be weakened by an admin of the team who deletes it and creates it again', async () => {
    const first = await create(teamAdmin, { slug: 'live' });
    expect(first.status, first.text).toBe(201);
    const path = `/environments/${first.body.id}`;
    expect((await teamAdmin.patch(path, { approval_policy: weak })).status).toBe(403);
    expect((await teamAdmin.delete(path, { 'idempotency-key': crypto.randomUUID() })).status).toBe(204);
    expect((await create(teamAdmin, { slug: 'live', approval_policy: weak })).status).toBe(403);
    expect((await create(teamAdmin, { slug: 'live' })).body).toMatchObject({ approval_policy: usual });
  });

  it('may be stricter, and other kinds may have any policy', async () => {
    expect((await create(teamAdmin, { approval_policy: { ...usual, required: 2 } })).status).toBe(201);
    expect((await create(teamAdmin, { kind: 'staging', approval_policy: weak })).status).toBe(201);
  });
});
