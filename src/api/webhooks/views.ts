import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { ownerOf, ownerView } from '#api/pipeline/owned.ts';
import { AnswerId, describeCodes, Time } from '#api/pipeline/schemas.ts';
import { decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { overlapUntil } from '#domain/shared/signing/signing-secrets.ts';
import type { DeliveryDetails, TriedDelivery } from '#domain/webhooks/deliveries/log-store.ts';
import type { Outcome } from '#domain/webhooks/deliveries/send.ts';
import {
  type DisabledReason,
  disabledReasons,
  keptTries,
  shownBodyCharacters,
  shownStatuses,
  shownStatusOf,
} from '#domain/webhooks/model.ts';
import { maxCounted, type WebhookDetails } from '#domain/webhooks/store.ts';
import { writeAccess } from './access.ts';
import { webhookActions } from './actions.ts';
import { auditRefusal } from './audit-authority.ts';

/** A webhook in a list. */
export const ListedWebhookView = z
  .object({
    id: AnswerId,
    ...ownerView,
    name: z.string(),
    url: z
      .string()
      .nullable()
      .describe(
        'Only for those who may change the webhook: anybody who knows the address may be able to write there. Null for others.',
      ),
    host: z.string().describe('The host of the address.'),
    events: z.array(z.string()).describe('Patterns of event types: `*`, `run.*` or exact names.'),
    enabled: z.boolean(),
    disabled_reason: z
      .enum(Object.keys(disabledReasons) as [DisabledReason, ...DisabledReason[]])
      .nullable()
      .describe(`Why the service disabled it. ${describeCodes(disabledReasons)}`),
    failing_since: Time.nullable().describe('Since when nothing could be delivered; null: the last try succeeded.'),
    problem: z.string().nullable().describe('Why the last try failed; null: it succeeded, or there was none.'),
    pending_deliveries: z.int().describe(`Deliveries that wait or are tried again, counted up to ${maxCounted}.`),
    overlap_until: Time.nullable().describe(
      'Until then, requests also carry a signature by the secret before the last rotation.',
    ),
    revision: z.int(),
    created_at: Time,
  })
  .meta({ id: 'ListedWebhook' });

export const WebhookView = ListedWebhookView.extend({ actions: webhookActions.view }).meta({ id: 'Webhook' });

export const IssuedWebhookView = WebhookView.extend({
  secret: z.string().describe('Signs every request. Shown only in this response.'),
}).meta({ id: 'IssuedWebhook' });

/** A webhook, as a principal who may read it sees it. */
export function viewWebhook(webhook: WebhookDetails, principal: Principal): z.input<typeof ListedWebhookView> {
  const owner = { organizationId: webhook.belongsTo, teamId: webhook.teamId ?? null };
  return answerOf(ListedWebhookView.shape, {
    ...webhook,
    ...ownerOf(webhook),
    url: mayChange(principal, owner, webhook.events) ? webhook.url : null,
    host: new URL(webhook.url).host,
    events: [...webhook.events],
    enabled: webhook.isEnabled,
    pendingDeliveries: webhook.pending,
    overlapUntil: overlapUntil(webhook.previousUntil),
  });
}

/** Whether a principal may change a webhook with these owners and patterns. Others see neither its address nor its messages. */
export function mayChange(principal: Principal, owner: Ownership, events: readonly string[]): boolean {
  return decide(principal, writeAccess, owner).allowed && auditRefusal(principal, owner, events) === null;
}

const answer = {
  status: z.int().nullable().describe('The status that the endpoint answered; null: there was no whole answer.'),
  milliseconds: z.int(),
  text: z
    .string()
    .nullable()
    .describe(
      'The first 1,024 bytes of the answer, without secrets, for those who may change the webhook: an endpoint may send back what it got. Null for others.',
    ),
};

export const DeliveryView = z
  .object({
    id: AnswerId,
    webhook_id: AnswerId,
    event: z.object({ id: AnswerId, type: z.string() }),
    message_id: z.string().describe('The `webhook-id` of every try, also of a redelivery.'),
    status: z
      .enum(shownStatuses)
      .describe(
        '`pending`: it waits. `retrying`: a try has failed, and the next one follows. `failed`: none follows. `withheld`: it was not sent, because its subject has another owner now, the audit record was removed, or the webhook no longer hears events of this type.',
      ),
    attempts: z.int(),
    next_attempt_at: Time.nullable().describe(
      'When it is tried next at the earliest, if the webhook is enabled. After a failure, the endpoint gets no message for a while.',
    ),
    paused: z.boolean().describe('Whether it waits until then only because the last attempt at the endpoint failed.'),
    last_attempt_at: Time.nullable(),
    answer: z.object(answer).nullable().describe('What the last try came to; null: there was none.'),
    problem: z.string().nullable().describe('Why the last try failed.'),
    created_at: Time,
  })
  .meta({ id: 'WebhookDelivery' });

/** @param showsText whether the reader may see the endpoint's answer */
export function viewDelivery(delivery: DeliveryDetails, showsText: boolean): z.input<typeof DeliveryView> {
  const { answerStatus: status, answerMs: milliseconds } = delivery;
  const text = showsText ? delivery.answerText : null;
  const isPending = delivery.status === 'pending';
  return answerOf(DeliveryView.shape, {
    ...delivery,
    event: { id: delivery.eventId, type: delivery.eventType },
    status: shownStatusOf(delivery),
    nextAttemptAt: isPending ? delivery.nextAt : null,
    paused: isPending && delivery.isPaused,
    lastAttemptAt: delivery.triedAt,
    answer: milliseconds === null ? null : { status, milliseconds, text },
  });
}

/** A single delivery. */
export const DeliveryDetailsView = DeliveryView.extend({
  tries: z
    .array(
      z.object({ at: Time, status: answer.status, milliseconds: answer.milliseconds, problem: z.string().nullable() }),
    )
    .describe(`The last ${keptTries} tries, oldest first.`),
  body: z
    .string()
    .nullable()
    .describe(
      `The body that every try sends, cut after ${shownBodyCharacters} characters. Only those who may change the webhook see it. It is null for others, if its subject was removed or has another owner now, and if the webhook no longer subscribes to events of this type.`,
    ),
}).meta({ id: 'WebhookDeliveryDetails' });

/** `body` is that of the message, or null if the reader may not see it. */
export function viewDeliveryDetails(
  delivery: TriedDelivery,
  { body, showsText }: { readonly body: string | null; readonly showsText: boolean },
): z.input<typeof DeliveryDetailsView> {
  const tries = delivery.tries.map(({ at, status, ms, problem }) => ({
    at: new Date(at).toISOString(),
    status,
    milliseconds: ms,
    problem,
  }));
  return {
    ...viewDelivery(delivery, showsText),
    tries,
    body: body === null ? null : body.slice(0, shownBodyCharacters),
  };
}

export const WebhookTestView = z
  .object({ ok: z.boolean(), answer: z.object(answer), problem: z.string().nullable() })
  .meta({ id: 'WebhookTest' });

export function viewTest({ status, ms, text, problem }: Outcome): z.input<typeof WebhookTestView> {
  return { ok: problem === null, answer: { status, milliseconds: ms, text }, problem };
}
