import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';

/** The limit of simultaneous tests of webhooks and channels, and the report of an endpoint that refuses them. */
let api: TestApi;
let endpoint: Endpoint;
let tenant: Tenant;
let stranger: Tenant;
let admin: ApiUser;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  tenant = await makeTenant(api);
  stranger = await makeTenant(api);
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());
beforeEach(async () => {
  endpoint = await startEndpoint();
});
// This ends the hanging tests of webhooks.
afterEach(() => endpoint.close());

const refusal = 'you or this owner have four running tests, and may not have more: wait until one has ended';

async function addWebhook({ owner, team }: Tenant): Promise<string> {
  const { id } = await owner.make('/admin/webhooks', {
    team_id: team,
    name: 'Chat',
    url: endpoint.url,
    events: ['*'],
  });
  return `/admin/webhooks/${id}/test`;
}

async function addChat({ owner, team }: Tenant): Promise<string> {
  const { path } = await makeChannel(owner, { kind: 'slack', config: { url: endpoint.url }, team_id: team });
  return `${path}/test`;
}

/** Begins tests that hang, and waits until the endpoint has got them all. */
async function begin(...tests: readonly (readonly [ApiUser, string])[]) {
  const known = endpoint.heard.length;
  const answers = tests.map(([caller, path]) => caller.post(path));
  await expect.poll(() => endpoint.heard.length).toBe(known + tests.length);
  return answers;
}

describe('the fifth simultaneous test of webhooks', () => {
  it('the fifth simultaneous test of one owner answers 429 for every caller, and a test of another owner is sent', async () => {
    const [webhook, chat, other] = [await addWebhook(tenant), await addChat(tenant), await addWebhook(stranger)];
    endpoint.answers = 'hang';
    const { owner } = tenant;
    const hanging = await begin([owner, webhook], [owner, chat], [admin, webhook], [admin, chat]);
    for (const caller of [owner, admin])
      for (const path of [webhook, chat])
        expect(await caller.post(path)).toMatchObject({
          status: 429,
          headers: { 'retry-after': expect.anything() },
          body: { error: refusal },
        });
    expect(endpoint.heard).toHaveLength(4);
    const others = await begin([stranger.owner, other]);
    await endpoint.close();
    endpoint = await startEndpoint();
    for (const { status } of await Promise.all([...hanging, ...others])) expect(status).toBe(200);
  });

  it('the fifth simultaneous test of one caller answers 429 for webhooks of every owner, and is sent once another test has ended', async () => {
    const [mine, theirs] = [await addWebhook(tenant), await addWebhook(stranger)];
    endpoint.answers = 'hang';
    const hanging = await begin([admin, mine], [admin, theirs], [admin, mine], [admin, theirs]);
    expect(await admin.post(theirs)).toMatchObject({ status: 429, body: { error: refusal } });
    await endpoint.close();
    await Promise.all(hanging);
    endpoint = await startEndpoint();
    expect(await admin.post(await addChat(tenant))).toMatchObject({ status: 200 });
  });
});

describe('a test of a webhook whose endpoint answers 429', () => {
  it('has failed, and does not count as a limit of the service', async () => {
    endpoint.answers = { status: 429, text: 'slow down', headers: { 'retry-after': '77' } };
    const webhook = await tenant.owner.post(await addWebhook(tenant));
    expect(webhook).toMatchObject({
      status: 200,
      body: {
        ok: false,
        answer: { status: 429, text: 'slow down' },
        problem: 'the endpoint answered 429; only 2xx is a delivery',
      },
    });
    const chat = await tenant.owner.post(await addChat(tenant));
    const results = [{ recipient: new URL(endpoint.url).host, problem: 'the address answered 429' }];
    expect(chat).toMatchObject({ status: 200, body: { ok: false, results } });
    for (const { headers } of [webhook, chat])
      expect([headers['retry-after'], headers['x-error-code']]).toEqual([undefined, undefined]);
  });
});
