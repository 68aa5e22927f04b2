import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMembers } from '#test/support/access/invitations.ts';
import { acquaint, join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { expectConflict } from '#test/support/api/expect-conflict.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const organizationOf = (tenant: Tenant) => `/organizations/${tenant.organization}`;
async function generationOf(table: string, id: string): Promise<number> {
  const [row] = await api.rows<{ generation: number }>(
    `select eligibility_generation as generation from ${table} where id = ?`,
    [id],
  );
  return row?.generation ?? 0;
}
async function rolesIn(tenant: Tenant, reader: ApiUser): Promise<Record<string, string>> {
  const members = await readMembers(reader, organizationOf(tenant));
  return Object.fromEntries(members.map(({ id, role }) => [id, role]));
}

describe('the transfer of an organization', () => {
  const transfer = (by: ApiUser, tenant: Tenant, to: string, more = {}) =>
    by.post(`${organizationOf(tenant)}/transfer`, { new_owner_user_id: to, ...more });

  test('makes a member or another user its owner, and the previous owner an admin', async () => {
    const tenant = await makeTenant(api);
    const [heir, next] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    await join(tenant, heir, 'member');
    await acquaint(heir, next);
    const answer = await transfer(tenant.owner, tenant, heir.id, { expected_revision: 1 });
    expect(answer).toMatchObject({ status: 200, body: { id: tenant.organization, revision: 2 } });
    expect(await rolesIn(tenant, heir)).toEqual({ [tenant.owner.id]: 'admin', [heir.id]: 'owner' });
    expect(await generationOf('organizations', tenant.organization)).toBe(2);
    expect((await transfer(tenant.owner, tenant, tenant.owner.id)).status).toBe(403);
    expect((await transfer(heir, tenant, next.id)).status).toBe(200);
    expect(await rolesIn(tenant, next)).toMatchObject({ [next.id]: 'owner', [heir.id]: 'admin' });
  });

  test('makes open invitations void', async () => {
    const tenant = await makeTenant(api);
    const [heir, invited] = [await api.addUser('maintainer'), await api.addUser('requester')];
    await acquaint(tenant.owner, heir);
    const sent = await tenant.owner.post(`${organizationOf(tenant)}/invitations`, { email: invited.email });
    await transfer(tenant.owner, tenant, heir.id);
    expect((await invited.post('/invitations/accept', { token: sent.body.token })).status).toBe(409);
  });

  test('the transfer of an organization is refused to a disabled user, an owner or nobody, for a stale revision, and while it is archived', async () => {
    const tenant = await makeTenant(api);
    const [disabled, owner] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    await acquaint(tenant.owner, disabled);
    await api.rows('update principals set enabled = false where id = ?', [disabled.id]);
    await join(tenant, owner, 'owner');
    expectConflict(await transfer(tenant.owner, tenant, disabled.id), 'this user is disabled');
    expectConflict(await transfer(tenant.owner, tenant, owner.id), 'is an owner already');
    expectConflict(await transfer(tenant.owner, tenant, tenant.owner.id), 'is an owner already');
    expect((await transfer(tenant.owner, tenant, randomUUID())).status).toBe(403);
    expectConflict(await transfer(tenant.owner, tenant, disabled.id, { expected_revision: 7 }), 'is stale');
    await tenant.owner.post(`${organizationOf(tenant)}/archive`);
    expectConflict(await transfer(tenant.owner, tenant, disabled.id), 'is archived');
  });

  test('is allowed to its owners and to platform administrators, who do not become members by it', async () => {
    const tenant = await makeTenant(api);
    const [admin, heir, root] = [
      await api.addUser('maintainer'),
      await api.addUser('maintainer'),
      await api.addUser('admin'),
    ];
    await join(tenant, admin, 'admin');
    expect((await transfer(admin, tenant, admin.id)).status).toBe(403);
    expect((await transfer(heir, tenant, heir.id)).status).toBe(404);
    expect((await transfer(root, tenant, heir.id)).status).toBe(200);
    expect(await rolesIn(tenant, heir)).toEqual({
      [tenant.owner.id]: 'owner',
      [admin.id]: 'admin',
      [heir.id]: 'owner',
    });
  });

  test('the transfer of an organization to two people at the same time makes one of them the owner', async () => {
    const tenant = await makeTenant(api);
    const heirs = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    for (const heir of heirs) await acquaint(tenant.owner, heir);
    const answers = await Promise.all(heirs.map((heir) => transfer(tenant.owner, tenant, heir.id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    const root = await api.addUser('admin');
    expect(Object.values(await rolesIn(tenant, root)).sort()).toEqual(['admin', 'owner']);
  });
});
