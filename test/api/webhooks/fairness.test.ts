import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import { leaseQueues, maxOfOneOwner } from '#domain/webhooks/deliveries/lease-store.ts';
import { sendTimeoutMs } from '#domain/webhooks/model.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { eagerSignals } from '#test/support/signals.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';
import { openWebhookSender } from '#worker/background/sending/senders.ts';

let api: TestApi;
let hanging: Endpoint;
let quick: Endpoint;
let alice: Tenant;
let mallory: Tenant;
let sending: Sending;
let sender: ReturnType<typeof openWebhookSender>;
let http: OutboundHttp;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  http = new OutboundHttp(api.services.config.outbound, { connections: null });
  [hanging, quick] = [await startEndpoint(), await startEndpoint()];
  hanging.answers = 'hang';
  [alice, mallory] = [await makeTenant(api), await makeTenant(api)];
  sending = await startSending(api);
  await create(alice, { team_id: alice.team }, quick);
});
afterAll(async () => {
  await Promise.all([hanging?.close(), quick?.close()]);
  await http?.close();
  await api?.close();
});
afterEach(async () => {
  await hanging.close();
  await sender.stop();
  hanging = await startEndpoint();
  hanging.answers = 'hang';
  await api.rows(`delete from webhooks where url <> ?`, [quick.url]);
});

async function create(by: Tenant, owner: object, { url }: Endpoint): Promise<string> {
  return (
    await by.owner.make('/admin/webhooks', {
      name: 'Hook',
      url,
      events: ['project.updated', 'organization.updated'],
      ...owner,
    })
  ).id;
}
const inTurn = async (count: number, act: (at: number) => Promise<unknown>) => {
  for (let at = 0; at < count; at += 1) await act(at);
};
const rename = ({ owner, project }: Tenant) => owner.patch(`/projects/${project}`, { name: `Renamed ${randomUUID()}` });

/** Starts a sender while deliveries wait, and returns how long it takes to deliver an event of Alice's. */
async function measureDelay(): Promise<number> {
  const { orm, transactions, installation, keyRing } = api.services;
  const log = pino({ level: 'silent' });
  await sending.fanOut();
  sender = openWebhookSender({
    orm,
    transactions,
    keyRing,
    http,
    log,
    bindingKey: installation.bindingKey,
    signals: eagerSignals,
  });
  sender.start();
  await expect.poll(() => hanging.heard.length, { interval: 20 }).toBeGreaterThan(20);
  return delayOfAlice();
}

async function delayOfAlice(): Promise<number> {
  quick.heard.splice(0);
  await rename(alice);
  const begun = performance.now();
  await sending.fanOut();
  await expect.poll(() => quick.heard.length, { timeout: 60_000, interval: 20 }).toBeGreaterThan(0);
  return performance.now() - begun;
}

it('400 hanging webhooks of one organization delay webhooks of another organization by less than the timeout of one delivery, even new ones', async () => {
  await inTurn(200, () => create(mallory, { organization_id: mallory.organization }, hanging));
  await inTurn(200, () => create(mallory, { team_id: mallory.team }, hanging));
  await rename(mallory);
  expect(await measureDelay()).toBeLessThan(sendTimeoutMs);
  await api.rows('update webhook_queues set is_proven = false, failing_since = null');
  expect(await delayOfAlice()).toBeLessThan(sendTimeoutMs);
}, 120_000);

it('hanging webhooks in 150 organizations of one person delay a working webhook by less than the timeout of one delivery', async () => {
  await inTurn(150, async (at) => {
    const { id } = await mallory.owner.make('/organizations', { name: `Organization ${at}` });
    await create(mallory, { organization_id: id }, hanging);
    await mallory.owner.patch(`/organizations/${id}`, { name: `Renamed ${at}` });
  });
  expect(await measureDelay()).toBeLessThan(sendTimeoutMs);
}, 120_000);

it('webhooks of one organization never use more than its share of places, and failing ones use few', async () => {
  await inTurn(60, () => create(mallory, { organization_id: mallory.organization }, hanging));
  await rename(mallory);
  await sending.fanOut();
  sender = { stop: async () => undefined } as never;
  const lease = () => leaseQueues(api.services.orm.em.fork(), { proven: 96, new: 64, failing: 32 });
  expect(await lease()).toHaveLength(maxOfOneOwner.new);
  expect(await lease()).toEqual([]);
  await api.rows('update webhook_queues set leased_until = null, failing_since = now()');
  const failing = await lease();
  expect(failing).toHaveLength(maxOfOneOwner.failing);
  expect(new Set(failing.map(({ lane }) => lane))).toEqual(new Set(['failing']));
});

it('the pause of a webhook after consecutive failures grows, and new events do not shorten it', async () => {
  sender = { stop: async () => undefined } as never;
  const id = await create(mallory, { organization_id: mallory.organization }, hanging);
  hanging.answers = { status: 500 };
  for (let failures = 1; failures <= 4; failures += 1) {
    await rename(mallory);
    await sending.retryNow(id);
    await sending.work();
  }
  await rename(mallory);
  const heard = hanging.heard.length;
  await sending.work();
  expect(hanging.heard).toHaveLength(heard);
  const read = `select failures, next_at >= quiet_until as waits, extract(epoch from quiet_until - now())::float8 as seconds
                  from webhook_queues where webhook_id = ?`;
  const [queue] = await api.rows<{ failures: number; waits: boolean; seconds: number }>(read, [id]);
  expect(queue).toMatchObject({ failures: 4, waits: true });
  expect(queue?.seconds).toBeGreaterThan(3);
  hanging.answers = { status: 204 };
  await api.rows('update webhook_queues set next_at = now() where webhook_id = ?', [id]);
  await sending.work();
  expect(await api.rows(read, [id])).toMatchObject([{ failures: 0 }]);
});
