import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { ownerParameters, ownerQuery, toOwnerIds } from '#api/pipeline/owned.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import { ownedAccess } from '#api/tenancy/owned-access.ts';
import { describeToChannels, topicNames } from '#domain/news/model.ts';
import {
  checkConfig,
  createChannel,
  deleteChannel,
  describeChannel,
  updateChannel,
} from '#domain/notification-channels/channel-changes.ts';
import { findChannel, listChannels, readChannel } from '#domain/notification-channels/store.ts';
import { findRowOwner } from '#domain/owners/owner.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { checkOutboundField } from '#domain/shared/outbound/outbound.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { channelActions } from './actions.ts';
import { CreateChannel, toSubscriptions, UpdateChannel } from './bodies.ts';
import { ChannelView, IssuedChannelView, ListedChannelView, viewChannel } from './views.ts';

export const ChannelParams = z.strictObject({ id: Id });

export const { review, listAccess, readAccess, createAccess, writeAccess } = ownedAccess('notification_channels', {
  reads: ['notification_channel:manage'],
  changes: ['notification_channel:manage'],
  ofInstallation: 'administrators',
});

export const list = readList({
  id: 'notification_channels.list',
  route: 'GET /api/v1/admin/notification-channels',
  summary: 'List the notification channels that you may read',
  query: z.strictObject({ ...pageQuery, ...ownerQuery }),
  responses: { 200: pageOf('notification_channels', ListedChannelView) },
  access: listAccess,
  owners: ownerParameters,
  handle: async ({ em, principal, query, services }) => {
    const page = await listChannels(em, principal, toOwnerIds(query), query);
    return {
      notification_channels: page.items.map((each) => viewChannel(each, services)),
      next_cursor: page.nextCursor,
    };
  },
});

export const listTopics = read({
  id: 'notification_channels.list_topics',
  route: 'GET /api/v1/admin/notification-channels/events',
  summary: 'List the events that a channel can hear of',
  responses: {
    200: z
      .object({ events: z.array(z.object({ type: z.enum(topicNames), summary: z.string() })) })
      .meta({ id: 'NotificationChannelEvents' }),
  },
  access: { scope: 'platform', hidden: 'not_found', anyOf: ['notification_channel:manage'], review: 'none' },
  handle: async () => ({ events: topicNames.map((type) => ({ type, summary: describeToChannels(type) })) }),
});

export const get = read({
  id: 'notification_channels.get',
  route: 'GET /api/v1/admin/notification-channels/:id',
  summary: 'Read a notification channel',
  params: ChannelParams,
  responses: { 200: ChannelView },
  access: readAccess,
  target: ({ em, params }) => findChannel(em, params.id),
  targetName: 'notification channel',
  handle: async ({ em, operations, principal, services, target }) => {
    const channel = await readChannel(em, target.channel.id, principal);
    if (!channel) throw new NotFound('notification channel');
    return { ...viewChannel(channel, services), actions: channelActions.describe({ operations, principal }, target) };
  },
});

export const create = command({
  id: 'notification_channels.create',
  route: 'POST /api/v1/admin/notification-channels',
  summary: 'Create a notification channel; the secret of a webhook is shown once',
  description:
    'It hears of what its owner owns; without an owner, of everything. An address is checked now and again whenever it is dialled.',
  body: CreateChannel,
  responses: { 201: IssuedChannelView },
  at: get,
  access: createAccess,
  target: ({ em, body, lock }) => findRowOwner(em, toOwnerIds(body), lock),
  targetName: 'owner',
  idempotency: 'none',
  showsOnce: true,
  audit: 'notification_channel.created',
  prepare: async ({ body, services }) => {
    checkConfig(body.kind, body.config);
    await checkUrl(services, body.config.url);
  },
  handle: async ({ tx, target, body, services, operations, principal }) => {
    const { name, kind, config, enabled: isEnabled } = body;
    const wanted = { name, kind, config, isEnabled, subscriptions: toSubscriptions(body.subscriptions) };
    const { channel, secret } = await createChannel(tx, services.keyRing, target, wanted);
    const shown = viewChannel(await readBack(readChannel(tx.em, channel.id, principal)), services);
    const actions = channelActions.describe({ operations, principal }, { ...target, channel });
    const after = await describeChannel(tx.em, channel);
    return { id: channel.id, revision: channel.revision, after, answer: { ...shown, actions, secret } };
  },
});

export const update = command({
  id: 'notification_channels.update',
  route: 'PATCH /api/v1/admin/notification-channels/:id',
  summary: 'Change, enable or disable a notification channel; what is left out stays',
  description:
    'Subscriptions and the configuration are replaced as a whole. What a disabled channel would have heard is not sent later.',
  params: ChannelParams,
  body: UpdateChannel,
  responses: { 200: ChannelView },
  at: get,
  access: writeAccess,
  target: ({ em, params, lock }) => findChannel(em, params.id, lock),
  targetName: 'notification channel',
  idempotency: 'none',
  audit: 'notification_channel.updated',
  prepare: async ({ target, body, services }) => {
    if (body.config) checkConfig(target.channel.kind, body.config);
    await checkUrl(services, body.config?.url);
  },
  handle: async ({ tx, target, body, services }) => {
    const { name, config, enabled: isEnabled, expected_revision: expected } = body;
    const subscriptions = body.subscriptions && toSubscriptions(body.subscriptions);
    const wanted = { name, config, isEnabled, subscriptions };
    const { before, after } = await updateChannel(tx, services.keyRing, target, wanted, expected);
    return { id: target.channel.id, before, after, revision: target.channel.revision };
  },
});

export const remove = command({
  id: 'notification_channels.delete',
  route: 'DELETE /api/v1/admin/notification-channels/:id',
  summary: 'Delete a notification channel; what waits is not sent',
  params: ChannelParams,
  responses: { 204: Nothing },
  access: { ...writeAccess, review: { ...review, verb: 'delete' } },
  target: ({ em, params, lock }) => findChannel(em, params.id, lock),
  targetName: 'notification channel',
  idempotency: 'none',
  ifMatch: true,
  audit: 'notification_channel.deleted',
  handle: async ({ tx, target: { channel }, expectedRevision }) => {
    const before = await describeChannel(tx.em, channel);
    await deleteChannel(tx, channel, expectedRevision);
    return { id: channel.id, before, revision: channel.revision };
  },
});

/** @throws Unprocessable naming the rule that the address breaks */
async function checkUrl({ config }: Services, url: string | undefined): Promise<void> {
  if (url !== undefined) await checkOutboundField('config.url', url, config.outbound);
}
