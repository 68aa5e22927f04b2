import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

/** The filter of the audit by the actor. */
let api: TestApi;
let tenant: Tenant;
let deployer: ApiUser;
let keyId: string;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  ({ account: deployer, keyId } = await addAccount('ci-deployer'));
  await deployer.patch(`/projects/${tenant.project}`, { description: 'deployed' });
});
afterAll(() => api?.close());

/** A service account of the team, as it acts with its key. */
async function addAccount(name: string) {
  const owner = { team_id: tenant.team };
  const { id } = await tenant.owner.make('/service-accounts', { name, role: 'maintainer', owner });
  const { body } = await tenant.owner.post(`/service-accounts/${id}/api-keys`, { name: `key of ${name}` });
  return { account: new ApiUser(api, { 'x-api-key': body.key }, { id, email: '' }), keyId: String(body.api_key.id) };
}

const search = (by: ApiUser, actor: string) => by.get(`/audit?actor=${encodeURIComponent(actor)}`);
const actionsOf = async (by: ApiUser, actor: string) => {
  const { status, text, body } = await search(by, actor);
  expect(status, text).toBe(200);
  return body.audit_records.map(({ action }: { action: string }) => action);
};

describe('the filter of the audit by an actor', () => {
  test('finds what a service account did by its name in any case, even for an administrator who does not manage it', async () => {
    expect(await actionsOf(tenant.owner, 'ci-deployer')).toEqual(['project.updated']);
    expect(await actionsOf(tenant.owner, 'CI-Deployer')).toEqual(['project.updated']);
    const administrator = await api.addUser('maintainer');
    await join(tenant, administrator, 'admin');
    expect(await actionsOf(administrator, 'ci-deployer')).toEqual(['project.updated']);
    expect(await actionsOf(await api.addUser('admin'), 'ci-deployer')).toEqual(['project.updated']);
  });

  test('finds what a service account did by a part of its name, for users who manage it', async () => {
    expect(await actionsOf(tenant.owner, 'ci-dep')).toEqual(['project.updated']);
  });

  test('refuses an unknown name, and that of an actor whose records are hidden from the reader, with the same message', async () => {
    const stranger = await api.addUser('maintainer');
    for (const name of ['ci-deployer', 'ci-nobody', tenant.owner.email, 'nobody@example.com']) {
      const { status, body } = await search(stranger, name);
      const words = `query parameter "actor": "${name}" names nobody whose records you can see: use a whole name, an e-mail address or an id`;
      expect([status, body.error]).toEqual([400, words]);
      expect((await stranger.get(`/audit/export?actor=${encodeURIComponent(name)}`)).status).toBe(400);
    }
  });

  test('finds somebody whose records the reader sees by name, and by e-mail address only if the reader may know the person', async () => {
    const visitor = await api.addUser('admin', 'Visiting Administrator');
    await visitor.patch(`/projects/${tenant.project}`, { description: 'changed by a visitor' });
    expect(await actionsOf(tenant.owner, 'visiting administrator')).toEqual(['project.updated']);
    expect((await search(tenant.owner, visitor.email)).status).toBe(400);
    expect(await actionsOf(await api.addUser('admin'), visitor.email)).toEqual(['project.updated']);
    await join(tenant, visitor, 'member');
    expect(await actionsOf(tenant.owner, visitor.email)).toContain('project.updated');
  });

  test('returns an empty list for an actor whom the reader knows and who has done nothing', async () => {
    const { account } = await addAccount('idle-account');
    expect(await actionsOf(tenant.owner, 'idle-account')).toEqual([]);
    expect(await actionsOf(tenant.owner, account.id)).toEqual([]);
  });

  test('refuses a name that several actors have, with their ids', async () => {
    const { account: one } = await addAccount('twin');
    const { account: other } = await addAccount('twin');
    const { status, body } = await search(tenant.owner, 'twin');
    expect([status, body.error]).toEqual([400, expect.stringContaining('"twin" names several: use one of the ids')]);
    for (const { id } of [one, other]) expect(body.error).toContain(id);
  });

  test('finds an actor of the tenant although 25 principals of other tenants have the same name', async () => {
    const others = Array.from({ length: 25 }, () => newId());
    await api.rows(
      `insert into principals (id, kind, name, enabled, created_at) select id, 'user', 'namesake', true, now() from unnest(?::uuid[]) id`,
      [`{${others.join(',')}}`],
    );
    const { account } = await addAccount('Namesake');
    await account.patch(`/projects/${tenant.project}`, { description: 'by one of many' });
    expect((await tenant.owner.delete(`/service-accounts/${account.id}`)).status).toBe(204);
    expect(await actionsOf(tenant.owner, 'namesake')).toEqual(['project.updated']);
    expect((await search(await api.addUser('maintainer'), 'namesake')).status).toBe(400);
  });

  test('finds what a deleted service account did', async () => {
    const { account } = await addAccount('short-lived');
    await account.patch(`/projects/${tenant.project}`, { description: 'before the end' });
    expect((await tenant.owner.delete(`/service-accounts/${account.id}`)).status).toBe(204);
    expect(await actionsOf(tenant.owner, 'short-lived')).toEqual(['project.updated']);
  });

  test("finds what a plugin's background principal and parts of the service did", async () => {
    const id = newId();
    await api.rows(
      `insert into principals (id, kind, name, enabled, created_at) values (?, 'background', 'nightly', true, now())`,
      [id],
    );
    const record = `insert into audit_records (id, at, actor_id, actor_type, actor_name, action, resource_type, outcome, organization_id) values (?, now(), ?, ?, ?, ?, 'projects', 'committed', ?)`;
    await api.rows(record, [newId(), id, 'background', 'nightly', 'project.updated', tenant.organization]);
    const zero = '00000000-0000-0000-0000-000000000000';
    await api.rows(record, [newId(), zero, 'system', 'former part', 'project.created', tenant.organization]);
    expect(await actionsOf(tenant.owner, 'nightly')).toEqual(['project.updated']);
    expect(await actionsOf(tenant.owner, 'former part')).toEqual(['project.created']);
    expect(await actionsOf(tenant.owner, 'anonymous')).toEqual([]);
  });
});

describe('the page of the audit', () => {
  test('finds a service account that its form suggests, and refuses an unknown name', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const page = await visitor.get('/audit?actor=ci-deployer');
    expect(page.text).toContain('>project.updated</a>');
    expect(page.text).toContain('label="ci-deployer, service account"');
    const wrong = await visitor.get('/audit?actor=ci-nobody');
    expect(wrong.status).toBe(400);
    expect(wrong.text).toContain('names nobody whose records you can see');
    expect(wrong.text).not.toContain('No records');
    expect(wrong.text).toContain('value="ci-nobody"');
    const account = await visitor.get(`/service-accounts/${deployer.id}`);
    expect(account.text).toContain(`href="/audit?actor=${deployer.id}"`);
  });

  test('names service accounts and API keys to visitors who manage them', async () => {
    const { text } = await (await signInVisitor(api, tenant.owner)).get('/audit');
    expect(text).toContain(`<a class="foreign" href="/service-accounts/${deployer.id}">ci-deployer</a>`);
    expect(text).toContain('key of ci-deployer');
    expect(text).not.toContain(`…${keyId.slice(-8)}`);
    const administrator = await api.addUser('maintainer');
    await join(tenant, administrator, 'admin');
    const other = await (await signInVisitor(api, administrator)).get('/audit');
    expect(other.text).toContain(`…${keyId.slice(-8)}`);
    expect(other.text).not.toContain('key of ci-deployer');
  });

  test('names the API key with which somebody did something on the page of the record', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const [record] = (await search(tenant.owner, 'ci-deployer')).body.audit_records;
    expect((await visitor.get(`/audit/${record.id}`)).text).toContain(
      'api key <span class="foreign">key of ci-deployer</span>',
    );
  });
});
