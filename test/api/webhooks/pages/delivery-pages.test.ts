import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';

/** The pages of deliveries for users who may change the webhook, and for other readers. */
let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;
let reader: Visitor;
let endpoint: Endpoint;
let sending: Sending;
let webhook: string;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
  const viewer = await api.addUser('maintainer');
  await join(tenant, viewer, 'member', 'viewer');
  reader = await signInVisitor(api, viewer);
  sending = await startSending(api);
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});
beforeEach(async () => {
  await api.rows('delete from webhooks');
  const wanted = { team_id: tenant.team, name: 'Chat', url: endpoint.url, events: ['project.*'] };
  webhook = `/admin/webhooks/${(await tenant.owner.make('/admin/webhooks', wanted)).id}`;
});

/** Lets the endpoint answer this to one message. Returns the path of its delivery. */
async function deliver(status: number): Promise<string> {
  endpoint.answers = { status };
  await tenant.owner.patch(`/projects/${tenant.project}`, { name: `Renamed ${randomUUID()}` });
  await sending.work();
  const [{ id }] = (await tenant.owner.get(`${webhook}/deliveries`)).body.deliveries;
  return `${webhook}/deliveries/${id}`;
}

it('sending a delivery again that is still retried shows the same delivery, which says that it is tried now', async () => {
  const path = await deliver(503);
  const sent = await visitor.submit(`${path}/redeliver`, {});
  expect(sent.location).toBe(`${path}?done=tried`);
  const { text } = await visitor.get(`${path}?done=tried`);
  expect(text).toContain('Delivery retried now.');
  expect(text).not.toContain('new delivery');
});

it('a delivery after a failed one is shown as paused, with the time of the next try', async () => {
  await deliver(503);
  await api.rows(
    `update webhook_queues set next_at = now() + interval '4 minutes', quiet_until = now() + interval '4 minutes'`,
  );
  await tenant.owner.patch(`/projects/${tenant.project}`, { name: `Renamed ${randomUUID()}` });
  await sending.work();
  const [waiting, failed] = (await tenant.owner.get(`${webhook}/deliveries`)).body.deliveries;
  expect([waiting.attempts, waiting.paused, failed.attempts, failed.paused]).toEqual([0, true, 1, false]);
  expect(Date.parse(waiting.next_attempt_at)).toBeGreaterThan(Date.now() + 180_000);
  for (const path of [webhook, `${webhook}/deliveries/${waiting.id}`]) {
    const { text } = await reader.get(path);
    expect(text).toContain('paused, because the last attempt failed');
    expect(text).not.toContain('As soon as possible');
  }
});

it('sending a delivery again that has ended shows another delivery, which says that it is new', async () => {
  const path = await deliver(204);
  const { location } = await visitor.submit(`${path}/redeliver`, {});
  expect(location).toMatch(/\?done=repeated$/);
  expect(location).not.toContain(path);
  expect((await visitor.get(location ?? '')).text).toContain('This is its new delivery.');
});

it('the list of deliveries shows the time of the next try even on a phone', async () => {
  await deliver(503);
  const cell = /<td role="cell" data-label="Next attempt"([^>]*)>/.exec((await visitor.get(webhook)).text);
  expect(cell?.[1]?.trim()).toBe('');
});

it('the content of a delivery is hidden from a reader who may not change the webhook', async () => {
  const path = await deliver(204);
  const hidden = 'Only people who may change the webhook can see the request and the response.';
  const read = (await reader.get(path)).text;
  expect([read.includes(hidden), read.includes('Request body')]).toEqual([true, false]);
  const changed = (await visitor.get(path)).text;
  expect([changed.includes(hidden), changed.includes('Request body')]).toEqual([false, true]);
});

it('a delivery whose content was removed says so to users who may change the webhook', async () => {
  const path = await deliver(204);
  await tenant.owner.patch(webhook, { events: ['run.*'] });
  expect((await visitor.get(path)).text).toContain(
    'The message is not shown: its subject was removed or has another owner, or the webhook no longer gets this type of event.',
  );
});

it('the tries of a delivery are listed with seconds', async () => {
  const { text } = await visitor.get(await deliver(204));
  expect(text).toMatch(
    /<td[^>]*data-label="Started"[^>]*><time [^>]*data-seconds[^>]*>[^<]*\d\d:\d\d:\d\d UTC<\/time>/,
  );
});
