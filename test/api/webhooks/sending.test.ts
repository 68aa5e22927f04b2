import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { withKey } from '#test/support/access/tenant-levels.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { eagerSignals } from '#test/support/signals.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';
import { openWebhookSender } from '#worker/background/sending/senders.ts';

let api: TestApi;
let endpoint: Endpoint;
let tenant: Tenant;
let other: Tenant;
let admin: ApiUser;
let sending: Sending;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
  [tenant, other] = [await makeTenant(api), await makeTenant(api)];
  await join(other, tenant.owner, 'admin', 'owner');
  admin = await api.addUser('admin');
  sending = await startSending(api);
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});
beforeEach(async () => {
  await api.rows('delete from webhooks');
  endpoint.heard.splice(0);
});

const create = async (owner: object, events: string[], caller = tenant.owner): Promise<string> =>
  (await caller.make('/admin/webhooks', { name: 'Chat', url: endpoint.url, events, ...owner })).id;
const rename = () => tenant.owner.patch(`/projects/${tenant.project}`, { name: `Renamed ${randomUUID()}` });
const deliveriesOf = async (id: string, caller = tenant.owner) =>
  (await caller.get(`/admin/webhooks/${id}/deliveries`)).body.deliveries;
const heardTypes = () => endpoint.heard.map(({ body }) => JSON.parse(body).type);

describe('a message that the service cannot create', () => {
  it('counts as a failed try, is tried again later, and a test of the webhook reports it instead of answering 500', async () => {
    const id = await create({ team_id: tenant.team }, ['project.updated']);
    await api.rows('update webhooks set sealed_secret = ? where id = ?', [Buffer.from('damaged'), id]);
    await rename();
    await sending.work();
    const [failed] = await deliveriesOf(id);
    expect(failed).toMatchObject({ status: 'retrying', attempts: 1, answer: { status: null, text: null } });
    expect(failed.problem).toBe('the service could not make or send the request; its log says why');
    expect(Date.parse(failed.next_attempt_at)).toBeGreaterThan(Date.now());
    expect((await tenant.owner.get(`/admin/webhooks/${id}`)).body.failing_since).not.toBeNull();
    const test = await tenant.owner.post(`/admin/webhooks/${id}/test`);
    expect(test).toMatchObject({ status: 200, body: { ok: false, problem: failed.problem } });
    await sending.retryNow(id);
    await sending.work();
    expect((await deliveriesOf(id))[0].attempts).toBe(2);
    expect(endpoint.heard).toHaveLength(0);
  });
});

describe('a message about a subject that was transferred before it was sent', () => {
  it('is withheld from webhooks of the earlier owners, and sent to those of the present ones', async () => {
    const project = await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Moving' });
    const ofTeam = await create({ team_id: tenant.team }, ['project.updated']);
    const ofOrganization = await create({ organization_id: tenant.organization }, ['project.updated']);
    const ofAll = await create({}, ['project.updated'], admin);
    const ofProject = await create({ project_id: project.id }, ['project.updated']);
    await tenant.owner.patch(`/projects/${project.id}`, { name: 'Moved' });
    await sending.fanOut();
    const moved = await tenant.owner.post(`/projects/${project.id}/transfer`, { team_id: other.team });
    expect(moved.status, moved.text).toBe(200);
    await sending.work();
    for (const id of [ofTeam, ofOrganization]) {
      const [withheld] = await deliveriesOf(id);
      expect(withheld).toMatchObject({ status: 'withheld', attempts: 0, next_attempt_at: null, answer: null });
      expect(withheld.problem).toContain('has another owner now');
      expect((await tenant.owner.get(`/admin/webhooks/${id}`)).body.failing_since).toBeNull();
    }
    expect((await deliveriesOf(ofAll, admin))[0].status).toBe('delivered');
    expect((await deliveriesOf(ofProject))[0].status).toBe('pending');
    expect(endpoint.heard).toHaveLength(1);
    await tenant.owner.patch(`/admin/webhooks/${ofProject}`, { enabled: true });
    await sending.work();
    expect((await deliveriesOf(ofProject))[0].status).toBe('delivered');
  });

  it('is not sent when an earlier delivery is repeated', async () => {
    const project = await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Moving again' });
    const id = await create({ team_id: tenant.team }, ['project.updated']);
    await tenant.owner.patch(`/projects/${project.id}`, { name: 'Moved again' });
    await sending.work();
    expect(endpoint.heard).toHaveLength(1);
    await tenant.owner.post(`/projects/${project.id}/transfer`, { team_id: other.team });
    const [delivered] = await deliveriesOf(id);
    expect((await tenant.owner.post(`/admin/webhooks/${id}/deliveries/${delivered.id}/redeliver`, {})).status).toBe(
      202,
    );
    await sending.work();
    expect((await deliveriesOf(id))[0].status).toBe('withheld');
    expect(endpoint.heard).toHaveLength(1);
  });

  it('is sent even if the subject was deleted', async () => {
    const project = await tenant.owner.make('/projects', { team_id: tenant.team, name: 'Short-lived' });
    await create({ team_id: tenant.team }, ['project.*']);
    const deleted = await tenant.owner.delete(`/projects/${project.id}`, withKey());
    expect(deleted.status, deleted.text).toBe(204);
    await sending.work();
    expect(heardTypes()).toEqual(['project.deleted']);
  });
});

describe('while webhooks are turned off', () => {
  it('nothing is sent, their operations answer 403 with the reason, and waiting messages are sent afterwards', async () => {
    const id = await create({ team_id: tenant.team }, ['project.updated']);
    const { orm, transactions, installation, keyRing, outboundHttp: http } = api.services;
    const log = pino({ level: 'silent' });
    const turn = (features: object) => admin.patch('/admin/settings', { features });
    await turn({ webhooks: { enabled: false, reason: 'the endpoint moves' } });
    const sender = openWebhookSender({
      orm,
      transactions,
      keyRing,
      http,
      log,
      bindingKey: installation.bindingKey,
      signals: eagerSignals,
    });
    try {
      const refused = await tenant.owner.get(`/admin/webhooks/${id}`);
      expect(refused).toMatchObject({ status: 403, headers: { 'x-error-code': 'feature_disabled' } });
      expect(refused.text).toContain('the endpoint moves');
      await rename();
      await sending.fanOut();
      const reads = vi.spyOn(orm.em, 'fork');
      sender.start();
      // Once it asks a second time whether webhooks are turned off, it has left all messages alone until then.
      await expect.poll(() => reads.mock.calls.length).toBeGreaterThan(1);
      expect(endpoint.heard).toHaveLength(0);
      await turn({ webhooks: { enabled: true } });
      await expect.poll(heardTypes, { timeout: 30_000 }).toEqual(['project.updated']);
    } finally {
      await sender.stop();
      await turn({ webhooks: { enabled: true } });
    }
  });
});
