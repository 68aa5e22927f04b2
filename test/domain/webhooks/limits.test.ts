import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type Endpoint, isSignedBy, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';

/** The limits and times of webhooks, each at the last value that is allowed and at the first that is not. */
let api: TestApi;
let endpoint: Endpoint;
let tenant: Tenant;
let sending: Sending;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
  tenant = await makeTenant(api);
  sending = await startSending(api);
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});

const body = (events: string[]) => ({ name: 'Chat', url: endpoint.url, events, team_id: tenant.team });
const create = (events: string[]) => tenant.owner.make('/admin/webhooks', body(events));
const rename = () => tenant.owner.patch(`/projects/${tenant.project}`, { name: `Renamed ${randomUUID()}` });

it('a webhook has at most 100 patterns', async () => {
  const patterns = Array.from({ length: 101 }, () => 'run.*');
  const statuses = [100, 101].map(async (count) => {
    return (await tenant.owner.post('/admin/webhooks', body(patterns.slice(0, count)))).status;
  });
  expect(await Promise.all(statuses)).toEqual([201, 400]);
});

it.each([
  ['71 hours 50 minutes', true],
  ['72 hours 10 minutes', false],
])('a webhook to which no delivery succeeded for %s stays enabled: %s', async (time, isEnabled) => {
  const { id } = await create(['project.updated']);
  endpoint.answers = { status: 500 };
  await rename();
  await sending.work();
  await api.rows('update webhook_queues set failing_since = now() - ?::interval where webhook_id = ?', [time, id]);
  await sending.retryNow(id);
  await sending.work();
  expect((await tenant.owner.get(`/admin/webhooks/${id}`)).body.enabled).toBe(isEnabled);
});

it.each([
  ['23 hours 50 minutes', true],
  ['24 hours 10 minutes', false],
])('the previous secret still signs %s after a rotation: %s', async (time, stillSigns) => {
  await api.rows('delete from webhooks');
  const { id, secret } = await create(['project.updated']);
  await tenant.owner.post(`/admin/webhooks/${id}/rotate`, {});
  await api.rows('update webhooks set previous_until = previous_until - ?::interval where id = ?', [time, id]);
  endpoint.answers = { status: 204 };
  endpoint.heard.splice(0);
  await rename();
  await sending.work();
  const [heard] = endpoint.heard;
  expect(heard && isSignedBy(String(secret), heard)).toBe(stillSigns);
});
