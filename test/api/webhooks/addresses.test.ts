import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { type Sending, startSending } from '#test/support/webhooks/sending.ts';

/** The operator of this service allows only public addresses. */
let api: TestApi;
let tenant: Tenant;
let endpoint: Endpoint;
let sending: Sending;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '' });
  endpoint = await startEndpoint();
  tenant = await makeTenant(api);
  sending = await startSending(api);
});
afterAll(async () => {
  await endpoint?.close();
  await api?.close();
});

// Messages that another test has left would be sent to its public address.
beforeEach(() => api.rows('delete from webhooks'));

/** A public address, which needs no look-up. No test may send anything to it. */
const saved = 'https://1.1.1.1/hook';
const make = async (): Promise<string> => {
  const body = { name: 'Chat', url: saved, events: ['project.updated'], team_id: tenant.team };
  return (await tenant.owner.make('/admin/webhooks', body)).id;
};

describe('the address of a webhook', () => {
  it.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://017700000001/',
    'https://0/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://[2002:a9fe:a9fe::]/',
    'https://[fe80::1%25eth0]/',
    'https://[fd00:ec2::254]/',
    'https://localhost/',
    'http://1.1.1.1/',
    'https://user:word@1.1.1.1/',
    'file:///etc/passwd',
    'gopher://1.1.1.1/',
  ])('is refused as %s when a webhook is created or changed', async (url) => {
    const body = { name: 'Chat', url, events: ['*'], team_id: tenant.team };
    expect((await tenant.owner.post('/admin/webhooks', body)).status).toBe(422);
    const id = await make();
    expect((await tenant.owner.patch(`/admin/webhooks/${id}`, { url })).status).toBe(422);
    expect((await tenant.owner.get(`/admin/webhooks/${id}`)).body.url).toBe(saved);
  });

  it('the address of a webhook that resolves to a private one when a message is sent gets nothing, and the log says why', async () => {
    const id = await make();
    await api.rows('update webhooks set url = ? where id = ?', [endpoint.url, id]);
    await tenant.owner.patch(`/projects/${tenant.project}`, { name: 'Renamed' });
    await sending.work();
    const [delivery] = (await tenant.owner.get(`/admin/webhooks/${id}/deliveries`)).body.deliveries;
    expect(delivery).toMatchObject({ status: 'retrying', attempts: 1, answer: { status: null, text: null } });
    expect(delivery.problem).toMatch(/is not on the public network/);
    const test = await tenant.owner.post(`/admin/webhooks/${id}/test`);
    expect(test.body).toMatchObject({ ok: false, problem: delivery.problem });
    expect(endpoint.heard).toHaveLength(0);
    const tried = await api.rows<{ id: string }>('select distinct webhook_id as id from webhook_deliveries');
    expect(tried).toEqual([{ id }]);
  });
});
