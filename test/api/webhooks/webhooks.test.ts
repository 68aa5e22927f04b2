import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { disableOverfull } from '#domain/webhooks/deliveries/backlog.ts';
import { leaseQueues } from '#domain/webhooks/deliveries/lease-store.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type Endpoint, isSignedBy, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';

let api: TestApi;
let endpoint: Endpoint;
let tenant: Tenant;
let foreign: Tenant;
let sending: Sending;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
  [tenant, foreign] = [await makeTenant(api), await makeTenant(api)];
  sending = await startSending(api);
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});
beforeEach(async () => {
  await api.rows('delete from webhooks');
  endpoint.heard.splice(0);
  endpoint.answers = { status: 204 };
});

const wanted = (events: string[] = ['*']) => ({ name: 'Chat', url: endpoint.url, events });
const create = async (owner: object, events?: string[], caller = tenant.owner) =>
  (await caller.make('/admin/webhooks', { ...wanted(events), ...owner })) as { id: string; secret: string };
const rename = (of: Tenant) => of.owner.patch(`/projects/${of.project}`, { name: `Renamed ${randomUUID()}` });
const deliveriesOf = async (id: string) => (await tenant.owner.get(`/admin/webhooks/${id}/deliveries`)).body.deliveries;
const types = () => endpoint.heard.map(({ body }) => JSON.parse(body).type);
describe('an event', () => {
  it('is sent only to the webhooks of its project, team and organization', async () => {
    await create({ project_id: tenant.project });
    await create({ team_id: tenant.team });
    await create({ organization_id: tenant.organization });
    await create({ team_id: foreign.team }, ['*'], foreign.owner);
    await rename(tenant);
    await sending.work();
    const heard = endpoint.heard.map(({ body }) => JSON.parse(body)).filter(({ type }) => type === 'project.updated');
    expect(heard).toHaveLength(3);
    expect(heard[0]).toMatchObject({
      timestamp: expect.stringMatching(/Z$/),
      data: {
        subject: { kind: 'project', id: tenant.project },
        ordinal: expect.any(Number),
        organization_id: tenant.organization,
        team_id: tenant.team,
        project_id: tenant.project,
        actor: { id: tenant.owner.id },
        details: { changed: expect.arrayContaining(['name']) },
      },
    });
  });

  it('is sent only to webhooks that subscribe to its type', async () => {
    await create({ team_id: tenant.team }, ['run.*', 'environment.locked']);
    await rename(tenant);
    await tenant.owner.put(`/environments/${tenant.environment}/lock`, { reason: 'incident' });
    await tenant.owner.delete(`/environments/${tenant.environment}/lock`);
    await sending.work();
    expect(types()).toEqual(['environment.locked']);
  });

  it('is signed with the secret that was shown once, and after a rotation with both secrets', async () => {
    const { id, secret } = await create({ team_id: tenant.team }, ['project.*']);
    expect(secret).toMatch(/^whsec_/);
    expect(JSON.stringify((await tenant.owner.get(`/admin/webhooks/${id}`)).body)).not.toContain('whsec_');
    const rotated = await tenant.owner.post(`/admin/webhooks/${id}/rotate`, {});
    await rename(tenant);
    await sending.work();
    const [heard] = endpoint.heard;
    expect([secret, rotated.body.secret].map((each) => isSignedBy(each, heard!))).toEqual([true, true]);
    expect(isSignedBy(secret, { ...heard!, body: `${heard!.body} ` })).toBe(false);
    const late = { ...heard!.headers, 'webhook-timestamp': String(Math.floor(Date.now() / 1000) - 3600) };
    expect(isSignedBy(secret, { ...heard!, headers: late })).toBe(false);
    const audited = await api.rows('select before, after from audit_records where resource_id = ?', [id]);
    expect(JSON.stringify(audited)).not.toContain('whsec_');
  });
});

describe('a delivery', () => {
  it('a delivery that fails or is redirected is tried again with the same id, and its response is stored without secrets', async () => {
    const { id, secret } = await create({ team_id: tenant.team }, ['project.updated']);
    endpoint.answers = { status: 302, headers: { location: 'http://127.0.0.1:1/' }, text: `you sent ${secret}\u0000` };
    await rename(tenant);
    await sending.work();
    const [failed] = await deliveriesOf(id);
    expect(failed).toMatchObject({ status: 'retrying', attempts: 1, answer: { status: 302 } });
    expect(failed.problem).toContain('redirects are not followed');
    expect(failed.answer.text).toBe('you sent [hidden]\u{fffd}');
    endpoint.answers = { status: 200, text: 'x'.repeat(5000) };
    await sending.retryNow(id);
    await sending.work();
    const [delivered] = await deliveriesOf(id);
    expect(delivered).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(delivered.answer.text).toHaveLength(1024);
    expect(new Set(endpoint.heard.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const again = await tenant.owner.post(`/admin/webhooks/${id}/deliveries/${delivered.id}/redeliver`, {});
    expect(again).toMatchObject({ status: 202, body: { status: 'pending', message_id: delivered.message_id } });
    const events = await api.rows(
      `select subject_kind, subject_id from domain_events where type = 'webhook.redelivered'`,
    );
    expect(events).toEqual([{ subject_kind: 'webhook', subject_id: id }]);
    await sending.work();
    expect(endpoint.heard).toHaveLength(3);
  });

  it('a delivery whose worker was killed is sent by another worker when the lease has expired', async () => {
    const { id } = await create({ team_id: tenant.team }, ['project.updated']);
    await rename(tenant);
    await sending.fanOut();
    expect(await leaseQueues(api.services.orm.em.fork(), { proven: 10, new: 10, failing: 10 })).toHaveLength(1);
    await sending.work();
    expect(endpoint.heard).toHaveLength(0);
    await api.rows(`update webhook_queues set leased_until = now() - interval '1 second' where webhook_id = ?`, [id]);
    await sending.work();
    expect(endpoint.heard).toHaveLength(1);
  });
});

describe('a webhook', () => {
  it('a webhook whose endpoint answers 410, or accepted nothing for three days, is disabled with a reason and an event', async () => {
    const gone = await create({ team_id: tenant.team }, ['project.updated']);
    endpoint.answers = { status: 410 };
    await rename(tenant);
    await sending.work();
    const failing = await create({ team_id: tenant.team }, ['project.updated']);
    endpoint.answers = { status: 500 };
    await rename(tenant);
    await sending.work();
    await api.rows(`update webhook_queues set failing_since = now() - interval '73 hours' where webhook_id = ?`, [
      failing.id,
    ]);
    await sending.retryNow(failing.id);
    await sending.work();
    const read = async ({ id }: { id: string }) => (await tenant.owner.get(`/admin/webhooks/${id}`)).body;
    expect(await read(gone)).toMatchObject({ enabled: false, disabled_reason: 'gone' });
    expect(await read(failing)).toMatchObject({ enabled: false, disabled_reason: 'failing' });
    const events = await api.rows(`select subject_id, team_id from domain_events where type = 'webhook.disabled'`);
    expect(events).toEqual([gone, failing].map(({ id }) => ({ subject_id: id, team_id: tenant.team })));
  });

  it('a webhook with more waiting messages than the limit is disabled as `behind`, and keeps them', async () => {
    const healthy = await create({ team_id: tenant.team }, ['project.updated']);
    const { id } = await create({ team_id: tenant.team }, ['project.updated']);
    const other = await startEndpoint();
    await tenant.owner.patch(`/admin/webhooks/${id}`, { url: other.url });
    other.answers = { status: 500 };
    await rename(tenant);
    await sending.work();
    for (let more = 0; more < 3; more += 1) await rename(tenant);
    await sending.fanOut();
    const { orm, transactions, installation } = api.services;
    const disable = (failing: number, slow: number) =>
      disableOverfull({ transactions, bindingKey: installation.bindingKey }, orm.em.fork(), { failing, slow });
    expect(await disable(4, 3)).toEqual([]);
    expect(await disable(3, 3)).toEqual([id]);
    expect(await disable(3, 3)).toEqual([]);
    const { body } = await tenant.owner.get(`/admin/webhooks/${id}`);
    expect(body).toMatchObject({ enabled: false, disabled_reason: 'behind' });
    const statuses = (await deliveriesOf(id)).map(({ status }: { status: string }) => status);
    expect(statuses).toEqual(['pending', 'pending', 'pending', 'retrying']);
    expect(await disable(3, 2)).toEqual([healthy.id]);
    await other.close();
  });

  it('a webhook that is enabled again gets another three days, and sends waiting messages at once', async () => {
    const { id } = await create({ team_id: tenant.team }, ['project.updated']);
    endpoint.answers = { status: 500 };
    await rename(tenant);
    await sending.work();
    await api.rows(`update webhook_queues set failing_since = now() - interval '73 hours' where webhook_id = ?`, [id]);
    await sending.retryNow(id);
    await sending.work();
    expect((await tenant.owner.patch(`/admin/webhooks/${id}`, { enabled: true })).body.failing_since).toBeNull();
    const heard = endpoint.heard.length;
    await sending.work();
    expect(endpoint.heard).toHaveLength(heard + 1);
    expect((await tenant.owner.get(`/admin/webhooks/${id}`)).body).toMatchObject({ enabled: true });
  });

  it('returns from a test the response of its endpoint', async () => {
    const { id, secret } = await create({ team_id: tenant.team });
    expect((await tenant.owner.post(`/admin/webhooks/${id}/test`)).body).toMatchObject({
      ok: true,
      answer: { status: 204 },
    });
    expect(types()).toEqual(['webhook.test']);
    expect(isSignedBy(secret, endpoint.heard[0]!)).toBe(true);
  });

  it('a webhook of another tenant, or of the installation, is hidden and cannot be changed', async () => {
    const { id } = await create({ team_id: foreign.team }, ['*'], foreign.owner);
    const admin = await api.addUser('admin');
    const ofAll = await create({}, ['*'], admin);
    for (const hidden of [id, ofAll.id]) {
      expect((await tenant.owner.get(`/admin/webhooks/${hidden}`)).status).toBe(404);
      expect((await tenant.owner.patch(`/admin/webhooks/${hidden}`, { name: 'Mine' })).status).toBe(404);
    }
    expect((await tenant.owner.get('/admin/webhooks')).body.webhooks).toEqual([]);
    expect((await tenant.owner.post('/admin/webhooks', wanted())).status).toBe(403);
    expect((await tenant.owner.post('/admin/webhooks', { ...wanted(), team_id: foreign.team })).status).toBe(404);
  });

  it('a webhook for a project, a team or an organization that does not exist is refused like one for a hidden owner', async () => {
    for (const owner of ['project_id', 'team_id', 'organization_id']) {
      expect((await tenant.owner.post('/admin/webhooks', { ...wanted(), [owner]: randomUUID() })).status).toBe(404);
    }
  });

  it.each([
    'http://127.0.0.2/',
    'http://2130706434/',
    'http://0x7f.0.0.2/',
    'http://0177.0.0.2/',
    'http://127.2/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[2002:a00:1::]/',
    'https://[fd00::1]/',
    'https://[fe80::1]/',
    'https://[fe80::1%25eth0]/',
    'https://0.0.0.0/',
    'https://localhost./',
    'https://169.254.169.254/latest/meta-data/',
    'https://user:password@8.8.8.8/',
    'https://user@8.8.8.8/',
    'ftp://8.8.8.8/',
    'http://8.8.8.8/',
    '//8.8.8.8/',
  ])('is refused with the address %s and a reason', async (url) => {
    const { status, body } = await tenant.owner.post('/admin/webhooks', { ...wanted(), url, team_id: tenant.team });
    expect(status, JSON.stringify(body)).toBe(422);
    expect(body.error).toMatch(
      /public network|not encrypted|starts with https|user name|no address|could not be resolved/,
    );
  });

  it('is refused with unknown events', async () => {
    for (const events of [['nothing.*'], ['run.nothing'], ['run*'], []])
      expect((await tenant.owner.post('/admin/webhooks', { ...wanted(events), team_id: tenant.team })).status).toBe(
        400,
      );
  });

  it('a webhook of an archived team cannot be changed, and can be deleted', async () => {
    const archived = await makeTenant(api);
    const { id } = await create({ team_id: archived.team }, ['*'], archived.owner);
    expect((await archived.owner.post(`${archived.teamPath}/archive`)).status).toBe(200);
    const refused = { status: 409, headers: { 'x-error-code': 'archived' } };
    expect(await archived.owner.patch(`/admin/webhooks/${id}`, { name: 'Other' })).toMatchObject(refused);
    expect(await archived.owner.post(`/admin/webhooks/${id}/rotate`)).toMatchObject(refused);
    const { actions } = (await archived.owner.get(`/admin/webhooks/${id}`)).body;
    expect(
      actions.filter(({ allowed }: { allowed: boolean }) => !allowed).map(({ name }: { name: string }) => name),
    ).toEqual(['update', 'rotate']);
    expect((await archived.owner.delete(`/admin/webhooks/${id}`)).status).toBe(204);
  });

  it('rotates its secret only with the present revision in If-Match', async () => {
    const { id } = await create({ team_id: tenant.team });
    const rotate = (tag: string) => tenant.owner.post(`/admin/webhooks/${id}/rotate`, undefined, { 'if-match': tag });
    expect((await rotate('"7"')).status).toBe(409);
    expect(await rotate('"1"')).toMatchObject({ status: 200, body: { revision: 2 } });
  });

  it('cannot be created beyond the 200 of its owner, even by simultaneous requests', async () => {
    await create({ team_id: tenant.team });
    await api.rows(
      `insert into webhooks (id, team_id, name, url, events, is_enabled, sealed_secret, created_at)
       select gen_random_uuid(), ?, 'Other', 'https://example.com', '["*"]', false, '', now() from generate_series(3, 200)`,
      [tenant.team],
    );
    const request = () => tenant.owner.post('/admin/webhooks', { ...wanted(), team_id: tenant.team });
    const answers = await Promise.all(Array.from({ length: 10 }, request));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
    expect(await request()).toMatchObject({ status: 409, headers: { 'x-error-code': 'limit_reached' } });
  });

  it('has a name on one line of visible characters', async () => {
    for (const [name, point] of [
      ['Chat\nBcc: all@example.com', 'U+000A'],
      ['Chat\u0007', 'U+0007'],
      ['Pay\u202estnem', 'U+202E'],
      ['Pay\u200bments', 'U+200B'],
    ])
      expect(await tenant.owner.post('/admin/webhooks', { ...wanted(), name, team_id: tenant.team })).toMatchObject({
        status: 400,
        body: { error: expect.stringContaining(`field "name" must not contain the character ${point}`) },
      });
  });
});
