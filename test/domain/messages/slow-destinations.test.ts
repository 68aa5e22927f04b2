import pino from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { queueMessages } from '#domain/messages/queue/queue-store.ts';
import { newId } from '#domain/shared/ids.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { sendMessages, storedMessages } from '#test/support/messages/sending.ts';
import { makeChannel } from '#test/support/notifications/channels.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { MessageSender } from '#worker/background/message-sending.ts';

let api: TestApi;
let tenant: Tenant;
let instance: string;
let hanging: Endpoint;
let quick: Endpoint;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  tenant = await makeTenant(api);
  instance = await addInstance();
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

async function addInstance(): Promise<string> {
  const { id: template } = await tenant.owner.make('/registry/templates', { name: 'Network', team_id: tenant.team });
  const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };
  await tenant.owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
  const body = { template_id: template, environment_id: tenant.environment, instance: 'net' };
  return (await tenant.owner.post('/runs', body)).body.instance_id;
}

/** Queues messages about the instance for a new channel with this address. */
async function queueFor({ url }: Endpoint, count: number): Promise<void> {
  const body = { kind: 'slack', config: { url }, team_id: tenant.team };
  const { id: channelId } = await makeChannel(tenant.owner, body);
  const content = { purpose: 'notification', kind: 'instance.expiring', title: 'It ends' } as const;
  const subject = { kind: 'instance', id: instance } as const;
  const message = { medium: 'chat', channelId, content, subject } as const;
  const messages = Array.from({ length: count }, () => ({ ...message, cause: newId() }));
  await queueMessages(api.services.orm.em.fork(), messages);
}

it('a destination that failed gets nothing more for a while', async () => {
  quick.answers = { status: 500 };
  await queueFor(quick, 20);
  await sendMessages(api);
  expect(quick.heard.splice(0)).toHaveLength(1);
  const waiting = await api.rows<{ due: boolean }>('select due_at <= now() as due from outgoing_messages');
  expect(waiting).toEqual(Array.from({ length: 20 }, () => ({ due: false })));
  quick.answers = { status: 204 };
  await api.rows('update outgoing_messages set due_at = now()');
  await sendMessages(api);
  expect((await storedMessages(api)).filter(({ status }) => status === 'sent')).toHaveLength(20);
  quick.heard.length = 0;
});

it('chats that hang keep no mail waiting, and no chat that answers', async () => {
  for (let made = 0; made < 30; made += 1) await queueFor(hanging, 1);
  await queueFor(quick, 1);
  const { orm, keyRing, outboundHttp: http } = api.services;
  const mails: string[] = [];
  const mail = { send: async ({ to }: { to: readonly string[] }) => void mails.push(...to) } as never;
  const deps = { orm, keyRing, http, mail, linkOrigin: 'https://x.example', log: pino({ level: 'silent' }) };
  const sender = new MessageSender(deps);
  sender.start();
  await expect.poll(() => quick.heard.length, { timeout: 10_000 }).toBe(1);
  const content = { purpose: 'email_changed' } as const;
  const userId = tenant.owner.id;
  const moved = { medium: 'email', userId, address: 'a@example.com', content, cause: 'moved' } as const;
  await queueMessages(orm.em.fork(), [moved]);
  await expect.poll(() => mails, { timeout: 5_000 }).toEqual(['a@example.com']);
  await hanging.close();
  await sender.stop();
});
