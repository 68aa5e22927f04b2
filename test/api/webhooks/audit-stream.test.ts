import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type Endpoint, isSignedBy, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';

let api: TestApi;
let endpoint: Endpoint;
let tenant: Tenant;
let foreign: Tenant;
let admin: ApiUser;
let sending: Sending;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
  [tenant, foreign] = [await makeTenant(api), await makeTenant(api)];
  admin = await api.addUser('admin');
  sending = await startSending(api);
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});
beforeEach(async () => {
  await api.rows('delete from webhooks');
  await sending.work();
  endpoint.heard.splice(0);
});

const wanted = (events: string[], owner: object) => ({ name: 'SIEM', url: endpoint.url, events, ...owner });
const create = async (owner: object, events = ['audit.recorded'], caller = tenant.owner) =>
  (await caller.make('/admin/webhooks', wanted(events, owner))) as { id: string; secret: string };
const rename = (of: Tenant) => of.owner.patch(`/projects/${of.project}`, { name: `Renamed ${randomUUID()}` });
/** A service account that administers the installation, and reads no audit of others. */
const addAccount = async () => {
  const wantedAccount = { name: `Bot ${randomUUID()}`, role: 'admin', owner: { user_id: admin.id } };
  const { id } = await admin.make('/service-accounts', wantedAccount);
  const { body } = await admin.post(`/service-accounts/${id}/api-keys`, { name: 'test' });
  return new ApiUser(api, { 'x-api-key': body.key }, { id, email: '' });
};
const messages = () => endpoint.heard.map(({ body }) => JSON.parse(body));

describe('a record of the audit', () => {
  it('is sent, signed, as GET /audit/{id} shows it, to subscribed webhooks of its organization and team', async () => {
    const { secret } = await create({ organization_id: tenant.organization });
    await create({ team_id: tenant.team }, ['audit.*']);
    endpoint.heard.splice(0);
    await rename(tenant);
    await sending.work();
    const renamed = messages().filter(({ data }) => data.action === 'project.updated');
    expect(renamed).toHaveLength(2);
    const [{ type, timestamp, data }] = renamed;
    expect({ type, timestamp }).toEqual({ type: 'audit.recorded', timestamp: data.at });
    expect(data).toMatchObject({ outcome: 'committed', actor: { id: tenant.owner.id }, team_id: tenant.team });
    expect(data.after.name).toMatch(/^Renamed/);
    const shown = await tenant.owner.get(`/audit/${data.id}`);
    expect(shown).toMatchObject({ status: 200, body: data });
    expect(endpoint.heard.filter((each) => isSignedBy(secret, each)).length).toBeGreaterThan(0);
  });

  it('a record of the audit that waits or is sent again is withheld if the webhook no longer subscribes to the audit', async () => {
    const { id } = await create({}, ['audit.recorded'], admin);
    await rename(foreign);
    await sending.work();
    endpoint.answers = { status: 500 };
    await rename(foreign);
    await sending.work();
    endpoint.answers = { status: 204 };
    const path = `/admin/webhooks/${id}`;
    expect((await admin.patch(path, { events: ['run.*'] })).status).toBe(200);
    const { deliveries } = (await admin.get(`${path}/deliveries`)).body;
    const account = await addAccount();
    for (const delivery of deliveries) await account.post(`${path}/deliveries/${delivery.id}/redeliver`);
    endpoint.heard.splice(0);
    await api.rows('update webhook_deliveries set due_at = now()');
    await api.rows('update webhook_queues set next_at = now(), leased_until = null');
    await sending.work();
    expect(endpoint.heard).toEqual([]);
    const kept = (await admin.get(`${path}/deliveries?status=withheld`)).body.deliveries;
    expect(kept).toHaveLength(deliveries.length);
    expect(kept[0].problem).toBe('the webhook no longer hears events of this type, so nothing was sent');
  });

  it("a record of the audit of another tenant is sent only to the installation's webhooks, even a refusal", async () => {
    await create({ organization_id: tenant.organization });
    await create({ team_id: tenant.team });
    endpoint.heard.splice(0);
    await rename(foreign);
    expect((await tenant.owner.patch(`/projects/${foreign.project}`, { name: 'Taken' })).status).toBe(404);
    await sending.work();
    const owners = messages().map(({ data }) => data.organization_id);
    expect(owners).toEqual(owners.map(() => tenant.organization));
    expect(JSON.stringify(messages())).not.toContain(foreign.project);
    await create({}, ['audit.recorded'], admin);
    await rename(foreign);
    await rename(tenant);
    await sending.work();
    const renamed = messages().filter(({ data }) => data.action === 'project.updated');
    expect(renamed.map(({ data }) => data.organization_id).sort()).toEqual(
      [foreign.organization, tenant.organization, tenant.organization, tenant.organization].sort(),
    );
  });

  it('is not sent to webhooks that subscribe to everything else', async () => {
    await create({ organization_id: tenant.organization }, ['*']);
    await rename(tenant);
    await sending.work();
    expect(messages().map(({ type }) => type)).toContain('project.updated');
    expect(messages().map(({ type }) => type)).not.toContain('audit.recorded');
  });

  it('is sent once and in the order of the audit, even if there are many', async () => {
    const { id } = await create({ team_id: tenant.team });
    const count = 30;
    for (let made = 0; made < count; made += 1) await rename(tenant);
    await sending.work();
    await sending.work();
    const ids = messages()
      .filter(({ data }) => data.action === 'project.updated')
      .map(({ data }) => data.id);
    expect(new Set(ids).size).toBe(count);
    expect(ids).toHaveLength(count);
    const ofWebhook = 'select event_id as id from webhook_deliveries where webhook_id = ?';
    const deliveries = await api.rows<{ id: string }>(`${ofWebhook} order by id`, [id]);
    const audit = await api.rows(`select id from audit_records where id in (${ofWebhook}) order by at, id`, [id]);
    expect(deliveries).toEqual(audit);
  });

  it('a record of the audit that the retention removed before it was sent is withheld', async () => {
    const { id } = await create({ team_id: tenant.team });
    await rename(tenant);
    await sending.fanOut();
    await api.rows(
      'delete from audit_records where id in (select event_id from webhook_deliveries where webhook_id = ?)',
      [id],
    );
    await sending.work();
    const { deliveries } = (await tenant.owner.get(`/admin/webhooks/${id}/deliveries`)).body;
    expect(deliveries.length).toBeGreaterThan(0);
    for (const delivery of deliveries) expect(delivery).toMatchObject({ status: 'withheld', attempts: 0 });
    expect(deliveries[0].problem).toContain('no longer keeps');
  });
});

describe('a webhook that subscribes to the audit', () => {
  it("requires the right to read the owner's whole audit, which a service account with the role admin does not have", async () => {
    const account = await addAccount();
    for (const events of [['audit.recorded'], ['audit.*'], ['*', 'audit.recorded']]) {
      const refused = await account.post('/admin/webhooks', wanted(events, {}));
      expect(refused.status, refused.text).toBe(403);
      expect(refused.body.error).toContain('hears the audit');
    }
    const { id } = await create({}, ['run.*'], account);
    expect((await account.patch(`/admin/webhooks/${id}`, { events: ['audit.recorded'] })).status).toBe(403);
    expect((await admin.patch(`/admin/webhooks/${id}`, { events: ['audit.recorded'] })).status).toBe(200);
  });

  it('cannot get another address or secret, or be deleted, by other users who manage webhooks', async () => {
    const account = await addAccount();
    const { id } = await create({}, ['audit.recorded'], admin);
    for (const change of [{ url: `${endpoint.url}/mine` }, { enabled: false }, { events: ['run.*'] }])
      expect((await account.patch(`/admin/webhooks/${id}`, change)).status).toBe(403);
    expect((await account.post(`/admin/webhooks/${id}/rotate`, {})).status).toBe(403);
    expect((await account.delete(`/admin/webhooks/${id}`)).status).toBe(403);
    const { actions } = (await account.get(`/admin/webhooks/${id}`)).body;
    const refused = actions.filter(({ allowed }: { allowed: boolean }) => !allowed);
    expect(refused.map(({ name }: { name: string }) => name)).toEqual(['update', 'rotate', 'redeliver', 'delete']);
    expect((await admin.delete(`/admin/webhooks/${id}`)).status).toBe(204);
  });

  it('cannot belong to a project', async () => {
    const refused = await tenant.owner.post('/admin/webhooks', wanted(['audit.*'], { project_id: tenant.project }));
    expect(refused.status, refused.text).toBe(400);
    expect(refused.body.error).toContain('name no project');
  });
});
