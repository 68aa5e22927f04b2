import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { ownerColumns } from '#domain/owners/columns.ts';
import type { EventCursor } from '#domain/shared/events/cursor.ts';
import type { AuditPosition, DeliveryStatus, DisabledReason, Try } from './model.ts';

export const WebhookSchema = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  indexes: [
    { name: 'webhooks_organization_id_index', properties: ['organizationId', 'id'] },
    { name: 'webhooks_team_id_index', properties: ['teamId', 'id'] },
    { name: 'webhooks_project_id_index', properties: ['projectId', 'id'] },
  ],
  checks: [
    {
      name: 'webhooks_owner_check',
      expression:
        '("project_id" is null or "team_id" is not null) and ("organization_id" is null or "team_id" is null)',
    },
  ],
  properties: {
    id: id(),
    ...ownerColumns,
    name: p.string(),
    url: p.text(),
    /** Patterns of event types: `*`, `run.*` or exact names. */
    events: p.json<string[]>(),
    isEnabled: p.boolean(),
    /** When somebody last enabled it; null: it was created enabled. It hears nothing from before. */
    enabledAt: at().nullable(),
    /** Why the service disabled it; null: it is enabled, or somebody disabled it. */
    disabledReason: p.string().$type<DisabledReason>().nullable(),
    sealedSecret: p.blob().hidden(),
    /** The secret before the last rotation. Requests are also signed with it until `previousUntil`. */
    sealedPreviousSecret: p.blob().nullable().hidden(),
    previousUntil: at().nullable(),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class Webhook extends WebhookSchema.class {}
WebhookSchema.setClass(Webhook);

/** When the deliveries of a webhook are due, and which worker sends them. */
export const WebhookQueueSchema = defineEntity({
  name: 'WebhookQueue',
  tableName: 'webhook_queues',
  indexes: [{ name: 'webhook_queues_next_at_index', properties: ['nextAt'] }],
  properties: {
    webhookId: () => p.manyToOne(Webhook).primary().mapToPk().fieldName('webhook_id').deleteRule('cascade'),
    /** No delivery is due before this time; null: none is pending. */
    nextAt: at().nullable(),
    /** The end of the lease of the worker that sends its deliveries. */
    leasedUntil: at().nullable(),
    /** The time since which every try has failed; null: the last try succeeded. */
    failingSince: at().nullable(),
    /** Why the last try failed; null: it succeeded, or there was none since somebody enabled the webhook. */
    problem: p.text().nullable(),
    /** Whether a delivery has succeeded since the webhook was created or enabled, or its address was changed. */
    isProven: p.boolean().default(false),
    /** The number of consecutive failed tries. */
    failures: p.integer().default(0),
    /** Nothing is sent before this time, because tries have failed. */
    quietUntil: at().nullable(),
  },
});
export class WebhookQueue extends WebhookQueueSchema.class {}
WebhookQueueSchema.setClass(WebhookQueue);

/** The position up to which deliveries were created: one row for the events, and one for the records of the audit. */
export const WebhookCursorSchema = defineEntity({
  name: 'WebhookCursor',
  tableName: 'webhook_cursors',
  properties: { id: id(), cursor: p.json<EventCursor | AuditPosition>() },
});
export class WebhookCursor extends WebhookCursorSchema.class {}
WebhookCursorSchema.setClass(WebhookCursor);

/** A message to be sent to a webhook, and the results of the tries. Migrations make the table, partitioned by month. */
export const WebhookDeliverySchema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: id(),
    createdAt: at().primary(),
    webhookId: p.uuid(),
    eventId: p.uuid(),
    eventType: p.string(),
    /** `webhook-id` of all tries, also of a redelivery. Receivers recognize repeated messages by it. */
    messageId: p.string(),
    status: p.string().$type<DeliveryStatus>(),
    attempts: p.integer().default(0),
    /** How many of the attempts a person requested. They do not count toward the number after which the service gives up. */
    triesByHand: p.integer().default(0),
    dueAt: at(),
    triedAt: at().nullable(),
    /** The results of the last tries, oldest first. */
    tries: p.json<Try[]>().default('[]'),
    answerStatus: p.integer().nullable(),
    answerMs: p.integer().nullable(),
    answerText: p.text().nullable(),
    /** Why the last try failed, in words; null: it succeeded, or there was none. */
    problem: p.text().nullable(),
  },
});
export class WebhookDelivery extends WebhookDeliverySchema.class {}
WebhookDeliverySchema.setClass(WebhookDelivery);
