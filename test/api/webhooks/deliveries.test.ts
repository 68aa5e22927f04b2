import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';

/** The deliveries and the address that readers of a webhook see, and the repetition of deliveries. */
let api: TestApi;
let endpoint: Endpoint;
let tenant: Tenant;
let viewer: ApiUser;
let sending: Sending;
let path: string;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
  tenant = await makeTenant(api);
  viewer = await api.addUser('maintainer');
  await join(tenant, viewer, 'member', 'viewer');
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
  const wanted = { team_id: tenant.team, name: 'Chat', url: endpoint.url, events: ['project.*'] };
  path = `/admin/webhooks/${(await tenant.owner.make('/admin/webhooks', wanted)).id}`;
});

const rename = () => tenant.owner.patch(`/projects/${tenant.project}`, { name: `Renamed ${newId()}` });
const list = async (query = '') => (await tenant.owner.get(`${path}/deliveries${query}`)).body.deliveries;

describe('the address of a webhook', () => {
  it('is shown to users who may change the webhook, and to other readers only as its host', async () => {
    const { host } = new URL(endpoint.url);
    expect((await tenant.owner.get(path)).body).toMatchObject({ url: endpoint.url, host });
    expect((await viewer.get(path)).body).toMatchObject({ url: null, host });
    const listed = await Promise.all([tenant.owner, viewer].map((user) => user.get('/admin/webhooks')));
    expect(listed.map(({ body }) => body.webhooks[0].url)).toEqual([endpoint.url, null]);
  });
});

describe('a delivery that failed', () => {
  it('has the status retrying until it is delivered, and the webhook shows why its endpoint fails', async () => {
    endpoint.answers = { status: 503 };
    await rename();
    await sending.work();
    expect(await list('?status=retrying')).toMatchObject([{ status: 'retrying', attempts: 1 }]);
    expect([await list('?status=pending'), await list('?status=failed')]).toEqual([[], []]);
    const failing = { failing_since: expect.any(String), problem: 'the endpoint answered 503; only 2xx is a delivery' };
    expect((await tenant.owner.get(path)).body).toMatchObject(failing);
    endpoint.answers = { status: 204 };
    const [{ id }] = await list();
    const again = await tenant.owner.post(`${path}/deliveries/${id}/redeliver`);
    expect(again).toMatchObject({ status: 202, body: { id } });
    await sending.work();
    expect(await list()).toMatchObject([{ id, status: 'delivered', attempts: 2 }]);
    expect((await tenant.owner.get(path)).body).toMatchObject({ failing_since: null, problem: null });
    expect(endpoint.heard).toHaveLength(2);
  });
});

describe('a delivery that is sent again while it waits', () => {
  it('is tried at once, without counting towards the limit of tries', async () => {
    endpoint.answers = { status: 503 };
    await rename();
    await sending.work();
    const [{ id }] = await list();
    await api.rows('update webhook_deliveries set attempts = 8 where id = ?', [id]);
    for (let times = 0; times < 4; times += 1) {
      expect((await tenant.owner.post(`${path}/deliveries/${id}/redeliver`)).status).toBe(202);
      await sending.work();
    }
    expect(endpoint.heard).toHaveLength(5);
    expect(await list()).toMatchObject([{ id, status: 'retrying', attempts: 12 }]);
  });
});

describe('a delivery that is sent again while others wait', () => {
  it('is tried before the others, although a failing endpoint gets one request at a time', async () => {
    endpoint.answers = { status: 503 };
    await rename();
    await rename();
    await rename();
    await sending.work();
    const [newest] = await list();
    await api.rows(`update webhook_deliveries set due_at = now() - interval '1 hour'`);
    endpoint.heard.splice(0);
    expect((await tenant.owner.post(`${path}/deliveries/${newest.id}/redeliver`)).status).toBe(202);
    await sending.work();
    expect(endpoint.heard.map(({ headers }) => headers['webhook-id'])[0]).toBe(newest.message_id);
  });
});

describe('a single delivery', () => {
  it("shows the endpoint's response only to users who may change the webhook, because it may contain the message", async () => {
    endpoint.answers = { status: 503, text: 'you sent me this' };
    await rename();
    await sending.work();
    const [{ id }] = await list();
    const seen = await Promise.all(
      [tenant.owner, viewer].map(async (user) => {
        const alone = await user.get(`${path}/deliveries/${id}`);
        const listed = await user.get(`${path}/deliveries`);
        return [alone.body.answer, listed.body.deliveries[0].answer].map(({ status, text }) => [status, text]);
      }),
    );
    expect(seen).toEqual([Array(2).fill([503, 'you sent me this']), Array(2).fill([503, null])]);
  });

  it('has its last ten tries, each with time, status, duration and problem', async () => {
    endpoint.answers = { status: 503 };
    await rename();
    await sending.work();
    const [{ id }] = await list();
    const delivery = `${path}/deliveries/${id}`;
    const problem = 'the endpoint answered 503; only 2xx is a delivery';
    const failed = { at: expect.any(String), status: 503, milliseconds: expect.any(Number), problem };
    expect((await tenant.owner.get(delivery)).body).toMatchObject({ attempts: 1, tries: [failed] });
    for (let again = 0; again < 8; again += 1) {
      await tenant.owner.post(`${delivery}/redeliver`);
      await sending.work();
    }
    endpoint.answers = { status: 204 };
    await tenant.owner.post(`${delivery}/redeliver`);
    await sending.work();
    const { attempts, tries, last_attempt_at: last } = (await tenant.owner.get(delivery)).body;
    expect([attempts, tries.length]).toEqual([10, 10]);
    expect(tries.slice(0, 9)).toEqual(Array(9).fill(failed));
    expect(tries[9]).toMatchObject({ at: last, status: 204, problem: null });
    const times = tries.map(({ at }: { at: string }) => at);
    expect(times).toEqual(times.toSorted());
  });

  it('has the body that the endpoint got, only for users who may change the webhook', async () => {
    await rename();
    await sending.work();
    const [{ id, ...listed }] = await list();
    expect(Object.keys(listed)).not.toContain('body');
    const { body } = (await tenant.owner.get(`${path}/deliveries/${id}`)).body;
    expect(body).toBe(endpoint.heard[0]?.body);
    const seen = (await viewer.get(`${path}/deliveries/${id}`)).body;
    expect(seen).toMatchObject({ body: null, tries: [{ status: 204 }] });
  });

  it('has no body if its subject has another owner now', async () => {
    await rename();
    await sending.work();
    const [{ id }] = await list();
    const { team: elsewhere } = await makeTenant(api);
    await api.rows(`update projects set team_id = ?, slug = 'moved' where id = ?`, [elsewhere, tenant.project]);
    const { body } = await tenant.owner.get(`${path}/deliveries/${id}`);
    await api.rows(`update projects set team_id = ?, slug = 'network' where id = ?`, [tenant.team, tenant.project]);
    expect(body).toMatchObject({ status: 'delivered', body: null });
  });
});

describe('sending a delivery again', () => {
  it('answers 404 for a missing delivery, even while the webhook is disabled', async () => {
    await tenant.owner.patch(path, { enabled: false });
    expect((await tenant.owner.post(`${path}/deliveries/${newId()}/redeliver`)).status).toBe(404);
  });
});

describe('a webhook whose subscription gets fewer types', () => {
  it('gets no waiting messages of the other types', async () => {
    await rename();
    await sending.fanOut();
    await tenant.owner.patch(path, { events: ['run.*'] });
    await sending.work();
    expect(endpoint.heard).toEqual([]);
    expect(await list()).toMatchObject([
      { status: 'withheld', problem: 'the webhook no longer hears events of this type, so nothing was sent' },
    ]);
  });
});

describe('the cursor of a list of deliveries', () => {
  it('continues its own list, and is refused by every other list', async () => {
    for (const name of ['one', 'two', 'three']) {
      const url = `${endpoint.url}/${name}`;
      await tenant.owner.make('/admin/webhooks', { team_id: tenant.team, name, url, events: ['*'] });
    }
    const first = (await tenant.owner.get('/admin/webhooks?limit=1')).body;
    const second = await tenant.owner.get(`/admin/webhooks?limit=1&cursor=${first.next_cursor}`);
    expect(second.body.webhooks[0].id).not.toBe(first.webhooks[0].id);
    for (const other of ['/notifications', `${path}/deliveries`, '/admin/notification-channels']) {
      const { status, body } = await tenant.owner.get(`${other}?cursor=${first.next_cursor}`);
      expect([status, body.error]).toEqual([400, 'cursor: expected a next_cursor of this list, unchanged']);
    }
  });
});
