import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { Environment } from '#domain/environments/entity.ts';
import { ownerColumns } from '#domain/owners/columns.ts';
import { Team } from '#domain/teams/entity.ts';
import type { ChannelDisabledReason, ChannelKind } from './model.ts';

/** A destination for notifications about the things that an owner owns. */
export const NotificationChannelSchema = defineEntity({
  name: 'NotificationChannel',
  tableName: 'notification_channels',
  indexes: [
    { name: 'notification_channels_organization_id_index', properties: ['organizationId', 'id'] },
    { name: 'notification_channels_team_id_index', properties: ['teamId', 'id'] },
    { name: 'notification_channels_project_id_index', properties: ['projectId', 'id'] },
  ],
  checks: [
    {
      name: 'notification_channels_owner_check',
      expression:
        '("project_id" is null or "team_id" is not null) and ("organization_id" is null or "team_id" is null)',
    },
  ],
  properties: {
    id: id(),
    ...ownerColumns,
    name: p.string(),
    kind: p.string().$type<ChannelKind>(),
    isEnabled: p.boolean(),
    /** Why the service disabled it; null: it is enabled, or somebody disabled it. */
    disabledReason: p.string().$type<ChannelDisabledReason>().nullable(),
    /** The addresses of a channel of the kind `email`. */
    recipients: p.json<string[]>().nullable(),
    /**
     * The host of the address of webhook and chat channels. The whole address is encrypted, because anybody who knows it can post there.
     */
    host: p.text().nullable(),
    sealedUrl: p.blob().nullable().hidden(),
    /** Signs the messages of a channel of the kind `webhook`. */
    sealedSecret: p.blob().nullable().hidden(),
    /** The secret before the last rotation, with which messages are also signed until `previousUntil`. */
    sealedPreviousSecret: p.blob().nullable().hidden(),
    previousUntil: at().nullable(),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class NotificationChannel extends NotificationChannelSchema.class {}
NotificationChannelSchema.setClass(NotificationChannel);

/** A subscription of a channel. Without a team and an environment, it covers everything that the owner owns. */
export const ChannelSubscriptionSchema = defineEntity({
  name: 'ChannelSubscription',
  tableName: 'channel_subscriptions',
  indexes: [
    { name: 'channel_subscriptions_channel_id_index', properties: ['channelId'] },
    { name: 'channel_subscriptions_team_id_index', properties: ['teamId'] },
    { name: 'channel_subscriptions_environment_id_index', properties: ['environmentId'] },
  ],
  checks: [{ name: 'channel_subscriptions_place_check', expression: '"team_id" is null or "environment_id" is null' }],
  properties: {
    id: id(),
    channelId: () => p.manyToOne(NotificationChannel).mapToPk().fieldName('channel_id').deleteRule('cascade'),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict').nullable(),
    environmentId: () =>
      p.manyToOne(Environment).mapToPk().fieldName('environment_id').deleteRule('restrict').nullable(),
    /** Patterns of topics: `*`, `run.*` or exact names. */
    events: p.json<string[]>(),
  },
});
export class ChannelSubscription extends ChannelSubscriptionSchema.class {}
ChannelSubscriptionSchema.setClass(ChannelSubscription);
