import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { startMailServer, type TestMailServer } from '#test/support/messages/mail-server.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { type Endpoint, isSignedBy, startEndpoint } from '#test/support/webhooks/endpoint.ts';

/** Notification channels: what they are, who may change them, and their tests. */
let api: TestApi;
let server: TestMailServer;
let endpoint: Endpoint;
let tenant: Tenant;
let strangers: Tenant;
let owner: ApiUser;

beforeAll(async () => {
  server = await startMailServer();
  endpoint = await startEndpoint();
  api = await startApi({
    COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1',
    COORDINATOR_SMTP_URL: server.url,
    COORDINATOR_SMTP_FROM: 'delivery@example.com',
    COORDINATOR_BASE_URL: 'https://delivery.example.com',
  });
  tenant = await makeTenant(api);
  strangers = await makeTenant(api);
  ({ owner } = tenant);
});
afterAll(async () => {
  await api?.close();
  await endpoint?.close();
  await server?.close();
});
beforeEach(async () => {
  await api.rows('delete from notification_channels');
  endpoint.heard.length = 0;
  endpoint.answers = { status: 204 };
  server.received.length = 0;
});

const channels = '/admin/notification-channels';
const email = (...recipients: string[]) => ({ kind: 'email', config: { recipients } });
const slack = () => ({ kind: 'slack', config: { url: endpoint.url } });
const webhook = () => ({ kind: 'webhook', config: { url: endpoint.url } });

describe('a notification channel', () => {
  it("shows its recipients or its host, and never its URL, and a webhook's secret only once", async () => {
    const team = { team_id: tenant.team };
    const mailed = await makeChannel(owner, { ...email('ops@example.com'), ...team });
    const signed = await makeChannel(owner, { ...webhook(), ...team });
    const chat = await makeChannel(owner, { ...slack(), organization_id: tenant.organization });
    expect([mailed.secret, chat.secret]).toEqual([null, null]);
    expect(signed.secret).toMatch(/^whsec_/);
    const shown = await Promise.all([mailed, signed, chat].map(async ({ path }) => (await owner.get(path)).body));
    const { host } = new URL(endpoint.url);
    expect(shown.map(({ config }) => config)).toEqual([
      { recipients: ['ops@example.com'], host: null },
      { recipients: null, host },
      { recipients: null, host },
    ]);
    expect(shown[0].subscriptions).toEqual([
      { team_id: null, environment_id: null, name: null, events: ['*'], covered_by: null },
    ]);
    const { text } = await owner.get(`${channels}?organization_id=${tenant.organization}`);
    expect(JSON.parse(text).notification_channels).toHaveLength(3);
    const records = await api.rows(
      `select a :: text as record from audit_records a where action like 'notification_channel.%'`,
    );
    expect(records).toHaveLength(3);
    for (const seen of [text, JSON.stringify(shown), JSON.stringify(records)]) {
      expect(seen).not.toContain('/hook');
      expect(seen).not.toContain('whsec_');
    }
  });

  it.each([
    [
      'e-mail without recipients',
      { kind: 'email', config: {} },
      'config.recipients: a channel of the kind email needs it',
    ],
    ['a chat without an address', { kind: 'slack', config: {} }, 'config.url: a channel of the kind slack needs it'],
    [
      'a chat with recipients',
      { kind: 'slack', config: { url: 'https://1.1.1.1/', recipients: ['a@example.com'] } },
      'config.recipients: a channel of the kind slack has none',
    ],
    ['the same address twice', email('a@example.com', 'A@example.com'), 'expected each address once'],
    ['no address', email('ops'), 'expected an e-mail address'],
    ['a line break in an address', email('a@example.com\r\nBcc: b@example.com'), 'expected an e-mail address'],
    ['an unknown event', { ...email('a@example.com'), subscriptions: [{ events: ['runs.*'] }] }, 'expected "*"'],
    [
      'a team and an environment',
      { ...email('a@example.com'), subscriptions: [{ team_id: newId(), environment_id: newId(), events: ['*'] }] },
      'expected a team or an environment, not both',
    ],
  ])('a notification channel with %s is refused with what is accepted', async (_name, body, message) => {
    const { status, text } = await owner.post(channels, { name: 'On call', team_id: tenant.team, ...body });
    expect(status, text).toBe(400);
    expect(text).toContain(JSON.stringify(message).slice(1, -1));
  });

  it.each([
    'https://169.254.169.254/',
    'https://[::1]/',
    'https://2130706434/',
    'http://1.1.1.1/',
    'file:///etc/passwd',
  ])('a notification channel with the address %s is refused when it is made and when it is changed', async (url) => {
    const body = { name: 'On call', kind: 'slack', team_id: tenant.team };
    expect((await owner.post(channels, { ...body, config: { url } })).status).toBe(422);
    const { path } = await makeChannel(owner, { ...slack(), team_id: tenant.team });
    expect((await owner.patch(path, { config: { url } })).status).toBe(422);
  });

  it('counts the places that its reader may not read, without their names', async () => {
    const tenant = await makeTenant(api);
    const subscriptions = [{ environment_id: tenant.environment, events: ['*'] }, { events: ['run.*'] }];
    const body = { ...email('a@example.com'), organization_id: tenant.organization, subscriptions };
    const { id } = await makeChannel(tenant.owner, body);
    const outsider = await api.addUser('maintainer');
    await join(tenant, outsider, 'member');
    const shown = await outsider.get(`/admin/notification-channels/${id}`);
    expect([shown.status, shown.body.subscriptions, shown.body.hidden_subscriptions], shown.text).toEqual([
      200,
      [{ team_id: null, environment_id: null, name: null, events: ['run.*'], covered_by: null }],
      1,
    ]);
    const full = await tenant.owner.get(`/admin/notification-channels/${id}`);
    expect([full.body.subscriptions.length, full.body.hidden_subscriptions]).toEqual([2, 0]);
  });

  it('can subscribe only to places of its owner, and hidden ids answer like missing ones', async () => {
    const { path } = await makeChannel(owner, { ...email('a@example.com'), team_id: tenant.team });
    const subscribe = (place: object) => owner.patch(path, { subscriptions: [{ ...place, events: ['run.*'] }] });
    for (const [field, theirs] of [
      ['team_id', strangers.team],
      ['environment_id', strangers.environment],
    ] as const) {
      const answers = await Promise.all([theirs, newId()].map((id) => subscribe({ [field]: id })));
      expect(answers.map(({ status }) => status)).toEqual([400, 400]);
      expect(answers[0]?.body.error).toEqual(answers[1]?.body.error);
    }
    expect((await subscribe({ environment_id: tenant.environment })).status).toBe(200);
    expect((await subscribe({ team_id: tenant.team })).body.subscriptions).toMatchObject([
      { team_id: tenant.team, name: 'Core', events: ['run.*'] },
    ]);
    const ofProject = { ...email('a@example.com'), project_id: tenant.project, name: 'Project' };
    const teamOfProject = { ...ofProject, subscriptions: [{ team_id: tenant.team, events: ['*'] }] };
    expect((await owner.post(channels, teamOfProject)).status).toBe(400);
  });

  it("is hidden from strangers, and the installation's from all but administrators", async () => {
    const { path } = await makeChannel(owner, { ...email('a@example.com'), team_id: tenant.team });
    const stranger = strangers.owner;
    expect((await stranger.get(path)).status).toBe(404);
    expect((await stranger.patch(path, { name: 'Mine' })).status).toBe(404);
    expect((await stranger.post(`${path}/test`)).status).toBe(404);
    expect((await stranger.delete(path)).status).toBe(404);
    expect((await stranger.post(channels, { name: 'Theirs', ...slack(), team_id: tenant.team })).status).toBe(404);
    expect((await owner.post(channels, { name: 'All', ...slack() })).status).toBe(403);
    const admin = await api.addUser('admin');
    const { path: global } = await makeChannel(admin, slack());
    expect((await owner.get(global)).status).toBe(404);
    expect((await stranger.get(channels)).body.notification_channels).toEqual([]);
  });

  it('keeps its address when it is renamed, and refuses a stale revision', async () => {
    const { path } = await makeChannel(owner, { ...slack(), team_id: tenant.team });
    const renamed = await owner.patch(path, { name: 'Nights', expected_revision: 1 });
    expect(renamed.body).toMatchObject({ name: 'Nights', revision: 2 });
    expect((await owner.patch(path, { name: 'Days', expected_revision: 1 })).status).toBe(409);
    expect((await owner.patch(path, { name: 'Nights' })).body.revision).toBe(2);
    expect((await owner.post(`${path}/test`)).body.ok).toBe(true);
  });

  it('signs with the old and the new secret after a rotation, if it is a webhook', async () => {
    const signed = await makeChannel(owner, { ...webhook(), team_id: tenant.team });
    const rotated = (await owner.post(`${signed.path}/rotate`, {})).body;
    expect(rotated.secret).not.toBe(signed.secret);
    expect(rotated.overlap_until).not.toBeNull();
    expect((await owner.post(`${signed.path}/test`)).body.ok).toBe(true);
    const [heard] = endpoint.heard;
    for (const secret of [signed.secret, rotated.secret]) expect(heard && isSignedBy(secret, heard)).toBe(true);
    expect(JSON.parse(heard?.body ?? '')).toMatchObject({ type: 'notification_channel.test' });
    const chat = await makeChannel(owner, { ...slack(), team_id: tenant.team });
    expect((await owner.post(`${chat.path}/rotate`, {})).headers['x-error-code']).toBe('no_signature');
  });
});

describe('the test of a channel', () => {
  it('sends a message to each recipient, and says who did not get it', async () => {
    const { path } = await makeChannel(owner, { ...email('a@example.com', 'b@example.com'), team_id: tenant.team });
    expect((await owner.post(`${path}/test`)).body).toEqual({
      ok: true,
      results: [
        { recipient: 'a@example.com', problem: null },
        { recipient: 'b@example.com', problem: null },
      ],
    });
    expect(server.received.map(({ recipients }) => recipients).sort()).toEqual([['a@example.com'], ['b@example.com']]);
    expect(server.received[0]?.text).toContain('You get this by the notification channel On call.');
    expect(server.received[0]?.text).toContain('can take you out');
  });

  it('a message to a chat has no advice on how to leave the channel', async () => {
    const { path } = await makeChannel(owner, { ...slack(), team_id: tenant.team });
    expect((await owner.post(`${path}/test`)).body.ok).toBe(true);
    const { text } = JSON.parse(endpoint.heard[0]?.body ?? '');
    expect(text).toContain('The service sends this by the notification channel On call.');
    expect(text).not.toContain('take you out');
  });

  it.each([
    [{ status: 500 }, 'the address answered 500'],
    [
      { status: 302, headers: { location: 'http://127.0.0.1/' } },
      'the address answered 302: redirects are not followed',
    ],
  ])('fails when the address answers %j', async (answer, problem) => {
    endpoint.answers = answer;
    const { path } = await makeChannel(owner, { ...slack(), team_id: tenant.team });
    const { body } = await owner.post(`${path}/test`);
    expect(body).toEqual({ ok: false, results: [{ recipient: new URL(endpoint.url).host, problem }] });
  });

  it('fails with a message if the URL cannot be decrypted, while the channel can still be read', async () => {
    const { path, id } = await makeChannel(owner, { ...slack(), team_id: tenant.team });
    await api.rows(`update notification_channels set sealed_url = '\\x00' where id = ?`, [id]);
    const { body } = await owner.post(`${path}/test`);
    expect(body.results[0].problem).toBe('the service could not make or send the test; its log says why');
    expect((await owner.get(path)).status).toBe(200);
  });

  it('a channel of an archived team cannot be changed, and can be deleted', async () => {
    const archived = await makeTenant(api);
    const { id } = await makeChannel(archived.owner, { ...webhook(), team_id: archived.team });
    expect((await archived.owner.post(`${archived.teamPath}/archive`)).status).toBe(200);
    const refused = { status: 409, headers: { 'x-error-code': 'archived' } };
    expect(await archived.owner.patch(`${channels}/${id}`, { name: 'Other' })).toMatchObject(refused);
    expect(await archived.owner.post(`${channels}/${id}/rotate`)).toMatchObject(refused);
    expect((await archived.owner.delete(`${channels}/${id}`)).status).toBe(204);
  });

  it('a channel for e-mail refuses an address without looking it up', async () => {
    const { id } = await makeChannel(owner, { ...email('ops@example.com'), team_id: tenant.team });
    const answer = await owner.patch(`${channels}/${id}`, { config: { url: 'https://no.such.host.example/' } });
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining('config.') } });
  });

  it('is refused if its owner already has 200', async () => {
    await api.rows(
      `insert into notification_channels (id, team_id, name, kind, is_enabled, recipients, created_at)
       select gen_random_uuid(), ?, 'Other', 'email', false, '[]', now() from generate_series(1, 200)`,
      [tenant.team],
    );
    const answer = await owner.post(channels, {
      name: 'One more',
      ...email('ops@example.com'),
      subscriptions: [{ events: ['*'] }],
      team_id: tenant.team,
    });
    expect(answer).toMatchObject({ status: 409, headers: { 'x-error-code': 'limit_reached' } });
  });
});
