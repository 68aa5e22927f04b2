import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { ownerOf, ownerView } from '#api/pipeline/owned.ts';
import { AnswerId, describeCodes, Time } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import { messageStatuses } from '#domain/messages/model.ts';
import type { ChannelMessage } from '#domain/messages/queue/log-store.ts';
import { noMailServer } from '#domain/messages/sending-failure.ts';
import { subjectKinds, topicNames } from '#domain/news/model.ts';
import { findCovering } from '#domain/notification-channels/coverage.ts';
import {
  type ChannelDisabledReason,
  channelDisabledReasons,
  channelKinds,
} from '#domain/notification-channels/model.ts';
import { type ChannelDetails, maxCounted } from '#domain/notification-channels/store.ts';
import { overlapUntil } from '#domain/shared/signing/signing-secrets.ts';
import { channelActions } from './actions.ts';

const SubscriptionView = z.object({
  team_id: AnswerId.nullable(),
  environment_id: AnswerId.nullable(),
  name: z
    .string()
    .nullable()
    .describe('The team, or the project and the environment; null: everything that the owner of the channel owns.'),
  events: z.array(z.string()),
  covered_by: z
    .int()
    .nullable()
    .describe(
      'The index in this list of a wider subscription that brings the same events already, so that this one changes nothing. Null: there is none.',
    ),
});

/** A channel in a list. */
export const ListedChannelView = z
  .object({
    id: AnswerId,
    ...ownerView,
    name: z.string(),
    kind: z.enum(channelKinds),
    config: z.object({
      recipients: z.array(z.string()).nullable().describe('Of the kind `email`.'),
      host: z.string().nullable().describe('Of the other kinds: the host of the address.'),
    }),
    enabled: z.boolean(),
    disabled_reason: z
      .enum(Object.keys(channelDisabledReasons) as [ChannelDisabledReason, ...ChannelDisabledReason[]])
      .nullable()
      .describe(`Why the service disabled it. ${describeCodes(channelDisabledReasons)}`),
    subscriptions: z.array(SubscriptionView),
    hidden_subscriptions: z.int().describe('How many more there are, to places that you may not read.'),
    waiting: z.int().describe(`Messages that wait or are tried again, counted up to ${maxCounted}.`),
    last_sent_at: Time.nullable(),
    problem: z
      .string()
      .nullable()
      .describe(
        'Why messages do not arrive at the recipient that has failed for longest, or that the installation has no mail server for a channel that sends e-mail. Null: the last message to each arrived.',
      ),
    overlap_until: Time.nullable().describe(
      'Until then, messages also carry a signature by the secret before the last rotation.',
    ),
    revision: z.int(),
    created_at: Time,
  })
  .meta({ id: 'ListedNotificationChannel' });

export const ChannelView = ListedChannelView.extend({ actions: channelActions.view }).meta({
  id: 'NotificationChannel',
});

export const IssuedChannelView = ChannelView.extend({
  secret: z
    .string()
    .nullable()
    .describe('Of the kind `webhook`: signs every message. Shown only in this response. Null for other kinds.'),
}).meta({ id: 'IssuedNotificationChannel' });

/** A channel that sends e-mail has a problem from the start if no mail server is configured. */
export function viewChannel(channel: ChannelDetails, { config }: Services): z.input<typeof ListedChannelView> {
  const { recipients } = channel;
  return answerOf(ListedChannelView.shape, {
    ...channel,
    ...ownerOf(channel),
    config: { recipients: recipients && [...recipients], host: channel.host },
    enabled: channel.isEnabled,
    subscriptions: channel.subscriptions.map(({ teamId, environmentId, name, events }, index, all) => ({
      team_id: teamId,
      environment_id: environmentId,
      name,
      events: [...events],
      covered_by: findCovering(all, index),
    })),
    hiddenSubscriptions: channel.subscriptionCount - channel.subscriptions.length,
    problem: channel.problem ?? (channel.kind === 'email' && config.mail === null ? noMailServer : null),
    overlapUntil: overlapUntil(channel.previousUntil),
  });
}

export const ChannelMessageView = z
  .object({
    id: AnswerId,
    kind: z.enum(topicNames),
    recipient: z
      .string()
      .nullable()
      .describe('Of the kind `email`: the address that it is for. Null: the address of the channel.'),
    status: z
      .enum(messageStatuses)
      .describe(
        '`pending`: it waits or will be tried again. `failed`: it will not. `withheld`: when it was due, its recipient was not to have it any more.',
      ),
    subject: z
      .object({ kind: z.enum(subjectKinds), id: AnswerId, title: z.string() })
      .nullable()
      .describe('What it is about, with the title of the message. Null: you may not read that, or it is gone.'),
    attempts: z.int(),
    next_attempt_at: Time.nullable().describe(
      'When it is tried next at the earliest. After a failure, the destination gets no message for a while.',
    ),
    paused: z
      .boolean()
      .describe('Whether it waits until then only because the last attempt at its destination failed.'),
    problem: z.string().nullable().describe('Why the last try failed, or why the message is withheld.'),
    created_at: Time,
    ended_at: Time.nullable(),
  })
  .meta({ id: 'NotificationChannelMessage' });

export function viewMessage(message: ChannelMessage): z.input<typeof ChannelMessageView> {
  const { subjectKind, subjectId, title } = message;
  const isPending = message.status === 'pending';
  return answerOf(ChannelMessageView.shape, {
    ...message,
    subject: subjectId && subjectKind ? { kind: subjectKind, id: subjectId, title: title ?? '' } : null,
    nextAttemptAt: isPending ? message.nextAt : null,
    paused: isPending && message.isPaused,
    endedAt: message.settledAt,
  });
}

export const ChannelTestView = z
  .object({
    ok: z.boolean(),
    results: z
      .array(z.object({ recipient: z.string(), problem: z.string().nullable() }))
      .describe(
        'For each address of an e-mail channel, or for the host of the other kinds; a problem of null: accepted.',
      ),
  })
  .meta({ id: 'NotificationChannelTest' });
