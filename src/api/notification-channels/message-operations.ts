import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import { limitTest } from '#api/tenancy/outbound-tests.ts';
import { countTest, testChannel } from '#domain/message-sending/test-channel.ts';
import { MailServer } from '#domain/messages/mail/mail-server.ts';
import { keptDays, messageStatuses } from '#domain/messages/model.ts';
import { listChannelMessages } from '#domain/messages/queue/log-store.ts';
import { rotateChannelSecret } from '#domain/notification-channels/channel-changes.ts';
import { findChannel, readChannel } from '#domain/notification-channels/store.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { limitSubjectOf } from '#domain/shared/tasks/limit-subject.ts';
import { channelActions } from './actions.ts';
import { RotateChannel } from './bodies.ts';
import { ChannelParams, get, readAccess, review, writeAccess } from './operations.ts';
import { ChannelMessageView, ChannelTestView, IssuedChannelView, viewChannel, viewMessage } from './views.ts';

export const listMessages = read({
  id: 'notification_channels.list_messages',
  route: 'GET /api/v1/admin/notification-channels/:id/messages',
  summary: 'List the messages of a notification channel, newest first, with what became of them',
  description: `A message is listed while it waits, and for ${keptDays} days in all. Tests are not listed.`,
  params: ChannelParams,
  query: z.strictObject({ ...pageQuery, status: z.enum(messageStatuses).optional() }),
  responses: { 200: pageOf('messages', ChannelMessageView) },
  access: { ...readAccess, review: { inherits: 'notification_channels.get' } },
  target: ({ em, params }) => findChannel(em, params.id),
  targetName: 'notification channel',
  handle: async ({ em, principal, target, query }) => {
    const page = await listChannelMessages(em, principal, target.channel.id, query, query);
    return { messages: page.items.map(viewMessage), next_cursor: page.nextCursor };
  },
});

export const test = command({
  id: 'notification_channels.test',
  route: 'POST /api/v1/admin/notification-channels/:id/test',
  summary: 'Send a test by a notification channel now, and answer whether it was accepted',
  description:
    'It uses the saved settings, also while the channel is disabled, and takes 40 seconds at most. It answers 429, and sends nothing, ' +
    'if too many mails were sent to one of the addresses, or if four tests of yours or of the owner are under way.',
  params: ChannelParams,
  responses: { 200: ChannelTestView },
  access: { ...writeAccess, review: { ...review, verb: 'test' } },
  target: ({ em, params, lock }) => findChannel(em, params.id, lock),
  targetName: 'notification channel',
  idempotency: 'none',
  audit: 'notification_channel.tested',
  prepare: async ({ target, principal, services }) => {
    const { recipients } = target.channel;
    if (recipients && services.config.mail)
      await countTest(services.orm.em.fork(), limitSubjectOf(principal, target), target);
    return limitTest(principal, target, () => testChannel(toSendDeps(services), target));
  },
  handle: async ({ target, prepared: results }) => {
    const ok = results.every(({ problem }) => problem === null);
    const problems = results.filter(({ problem }) => problem !== null);
    return { id: target.channel.id, after: { ok, problems }, answer: { ok, results: [...results] } };
  },
});

function toSendDeps({ config, outboundHttp: http, keyRing, log, orm }: Services) {
  const mail = config.mail && new MailServer(config.mail, config.outbound);
  return { em: orm.em.fork(), http, mail, keyRing, log, linkOrigin: config.baseUrl };
}

export const rotate = command({
  id: 'notification_channels.rotate',
  route: 'POST /api/v1/admin/notification-channels/:id/rotate',
  summary: 'Replace the secret of a webhook channel, which is shown once',
  description: 'For 24 hours, messages carry signatures by both secrets.',
  params: ChannelParams,
  body: RotateChannel.prefault({}),
  responses: { 200: IssuedChannelView },
  at: get,
  access: { ...writeAccess, review: { ...review, verb: 'rotate' } },
  target: ({ em, params, lock }) => findChannel(em, params.id, lock),
  targetName: 'notification channel',
  idempotency: 'none',
  showsOnce: true,
  audit: 'notification_channel.secret_rotated',
  handle: async ({ tx, target, body, services, operations, principal }) => {
    const { channel } = target;
    if (channel.kind !== 'webhook') throw new Conflict('only webhook channels sign messages', 'no_signature');
    const secret = await rotateChannelSecret(tx, services.keyRing, target, body.expected_revision);
    const shown = viewChannel(await readBack(readChannel(tx.em, channel.id, principal)), services);
    const actions = channelActions.describe({ operations, principal }, target);
    return { id: channel.id, revision: channel.revision, after: {}, answer: { ...shown, actions, secret } };
  },
});
