import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { queueMessages } from '#domain/messages/queue/queue-store.ts';
import { readChannel } from '#domain/notification-channels/store.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { newId } from '#domain/shared/ids.ts';
import { OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { sendMessages, storedMessages } from '#test/support/messages/sending.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { eagerSignals } from '#test/support/signals.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { openMessageSender } from '#worker/background/sending/senders.ts';

let api: TestApi;
let tenant: Tenant;
let instance: string;
let hanging: Endpoint;
let quick: Endpoint;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  tenant = await makeTenant(api);
  instance = await addInstance(tenant);
  [hanging, quick] = [await startEndpoint(), await startEndpoint()];
  hanging.answers = 'hang';
});
afterAll(async () => {
  await Promise.all([hanging?.close(), quick?.close()]);
  await api?.close();
});
beforeEach(async () => {
  await api.rows('delete from notification_channels');
  await api.rows('delete from outgoing_messages');
});

async function addInstance(tenant: Tenant): Promise<string> {
  const { id: template } = await tenant.owner.make('/registry/templates', { name: 'Network', team_id: tenant.team });
  const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };
  await tenant.owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
  const body = { template_id: template, environment_id: tenant.environment, instance: 'net' };
  return (await tenant.owner.post('/runs', body)).body.instance_id;
}

/** Queues messages about the instance for a new channel with this address. */
async function queueFor({ url }: Endpoint, count: number): Promise<string> {
  const body = { kind: 'slack', config: { url }, team_id: tenant.team };
  const { id } = await makeChannel(tenant.owner, body);
  await queueMore(id, count);
  return id;
}

async function queueMore(channelId: string, count: number, id = instance): Promise<void> {
  const content = { purpose: 'notification', kind: 'instance.expiring', title: 'It ends' } as const;
  const subject = { kind: 'instance', id } as const;
  const message = { medium: 'chat', channelId, content, subject } as const;
  const messages = Array.from({ length: count }, () => ({ ...message, cause: newId() }));
  await queueMessages(api.services.orm.em.fork(), messages);
}

it('a destination that failed gets no message until its pause is over, whenever the message was queued', async () => {
  quick.answers = { status: 500 };
  const channelId = await queueFor(quick, 20);
  await sendMessages(api);
  expect(quick.heard.splice(0)).toHaveLength(1);
  quick.answers = { status: 204 };
  await queueMore(channelId, 1);
  await sendMessages(api);
  expect(quick.heard).toHaveLength(0);
  await api.rows(`update outgoing_messages set due_at = now() - interval '1 second'`);
  await api.rows(`update failing_destinations set quiet_until = now() - interval '1 second'`);
  await sendMessages(api);
  expect((await storedMessages(api)).filter(({ status }) => status === 'sent')).toHaveLength(21);
  expect(await api.rows('select destination from failing_destinations')).toEqual([]);
  quick.heard.length = 0;
});

it('a channel reports why messages fail until its address changes', async () => {
  quick.answers = { status: 500 };
  const id = await queueFor(quick, 1);
  await sendMessages(api);
  const problem = async () => (await tenant.owner.get(`/admin/notification-channels/${id}`)).body.problem;
  expect(await problem()).toContain('500');
  const other = { config: { url: `${quick.url}?other` } };
  expect((await tenant.owner.patch(`/admin/notification-channels/${id}`, other)).status).toBe(200);
  expect(await problem()).toBeNull();
  quick.answers = { status: 204 };
  quick.heard.length = 0;
});

it('a mail channel names its failing recipient, and another channel does not', async () => {
  const mail = (address: string) => ({ kind: 'email', config: { recipients: [address] }, team_id: tenant.team });
  const failing = await makeChannel(tenant.owner, mail('gone@example.com'));
  const other = await makeChannel(tenant.owner, mail('there@example.com'));
  const content = { purpose: 'notification', kind: 'instance.expiring', title: 'It ends' } as const;
  const subject = { kind: 'instance', id: instance } as const;
  const to = { medium: 'email', channelId: failing.id, address: 'gone@example.com' } as const;
  await queueMessages(api.services.orm.em.fork(), [{ ...to, content, subject, cause: newId() }]);
  await sendMessages(api);
  const administrator = { ...systemPrincipal('test'), kind: 'user', role: 'admin' } as const;
  const problemOf = async (id: string) => (await readChannel(api.services.orm.em.fork(), id, administrator))?.problem;
  expect(await problemOf(failing.id)).toMatch(/^gone@example\.com: this installation sends no e-mail/);
  expect(await problemOf(other.id)).toBeNull();
  await tenant.owner.delete(`/admin/notification-channels/${failing.id}`);
  expect(await api.rows('select destination from failing_destinations where channel_id = ?', [failing.id])).toEqual([]);
});

it('many hanging chat endpoints of one organization delay a message of another organization by seconds at most', async () => {
  for (let made = 0; made < 150; made += 1) await queueFor(hanging, 1);
  const other = await makeTenant(api);
  const channel = await makeChannel(other.owner, { kind: 'slack', config: { url: quick.url }, team_id: other.team });
  const http = new OutboundHttp(api.services.config.outbound, { connections: null });
  const { orm, keyRing } = api.services;
  const log = pino({ level: 'silent' });
  const sender = openMessageSender(
    { orm, keyRing, http, mail: null, linkOrigin: null, log, signals: eagerSignals },
    'posts',
  );
  sender.start();
  await expect.poll(() => hanging.heard.length, { interval: 20 }).toBeGreaterThanOrEqual(32);
  expect(hanging.heard).toHaveLength(32);
  const begun = performance.now();
  await queueMore(channel.id, 1, await addInstance(other));
  await expect.poll(() => quick.heard.length, { timeout: 60_000, interval: 20 }).toBe(1);
  expect(performance.now() - begun).toBeLessThan(4_000);
  await hanging.close();
  await sender.stop();
  await http.close();
  hanging = await startEndpoint();
  hanging.answers = 'hang';
});

it('hanging chat endpoints delay neither mails nor messages to other chat endpoints', async () => {
  for (let made = 0; made < 30; made += 1) await queueFor(hanging, 1);
  await queueFor(quick, 1);
  const { orm, keyRing, outboundHttp: http } = api.services;
  const mails: string[] = [];
  const mail = { send: async ({ to }: { to: readonly string[] }) => void mails.push(...to) } as never;
  const log = pino({ level: 'silent' });
  const deps = { orm, keyRing, http, mail, linkOrigin: 'https://x.example', log, signals: eagerSignals };
  const senders = [openMessageSender(deps, 'mails'), openMessageSender(deps, 'posts')];
  for (const sender of senders) sender.start();
  await expect.poll(() => quick.heard.length).toBe(1);
  const content = { purpose: 'email_changed' } as const;
  const userId = tenant.owner.id;
  const moved = { medium: 'email', userId, address: 'a@example.com', content, cause: 'moved' } as const;
  await queueMessages(orm.em.fork(), [moved]);
  await expect.poll(() => mails).toEqual(['a@example.com']);
  await hanging.close();
  await Promise.all(senders.map((sender) => sender.stop()));
});
