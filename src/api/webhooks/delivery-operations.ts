import { z } from 'zod';
import { command, read } from '#api/pipeline/operation.ts';
import { pageOf } from '#api/pipeline/schemas.ts';
import { limitTest } from '#api/tenancy/outbound-tests.ts';
import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict, NotFound } from '#domain/shared/errors.ts';
import { Id, newId } from '#domain/shared/ids.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { TimeOrDay } from '#domain/shared/values/times.ts';
import { findContent } from '#domain/webhooks/deliveries/due-store.ts';
import {
  listDeliveries,
  readDelivery,
  repeatDelivery,
  type TriedDelivery,
} from '#domain/webhooks/deliveries/log-store.ts';
import { tryToSend } from '#domain/webhooks/deliveries/send.ts';
import { shownStatuses } from '#domain/webhooks/model.ts';
import { payloadOf, testPayload } from '#domain/webhooks/payload.ts';
import { findWebhook, readWebhook, type WebhookTarget } from '#domain/webhooks/store.ts';
import { rotateSecret } from '#domain/webhooks/webhook-changes.ts';
import { readAccess, writeAccess } from './access.ts';
import { webhookActions } from './actions.ts';
import { checkAuditPatterns } from './audit-authority.ts';
import { RotateWebhook } from './bodies.ts';
import { get, WebhookParams } from './operations.ts';
import {
  DeliveryDetailsView,
  DeliveryView,
  IssuedWebhookView,
  mayChange,
  viewDelivery,
  viewDeliveryDetails,
  viewTest,
  viewWebhook,
  WebhookTestView,
} from './views.ts';

const DeliveryParams = z.strictObject({ id: Id, deliveryID: Id });
const review = { resource: 'webhooks', target: readTarget } as const;

function readTarget(...[em, id]: Parameters<typeof findWebhook>) {
  return findWebhook(em, id);
}

export const list = read({
  id: 'webhooks.list_deliveries',
  route: 'GET /api/v1/admin/webhooks/:id/deliveries',
  summary: 'List the deliveries of a webhook, newest first, with what its endpoint answered',
  params: WebhookParams,
  query: z.strictObject({
    ...pageQuery,
    status: z.enum(shownStatuses).optional(),
    from: TimeOrDay.optional().describe('Only deliveries that were made at this time or later.'),
    to: TimeOrDay.optional().describe('Only deliveries that were made before this time.'),
  }),
  responses: { 200: pageOf('deliveries', DeliveryView) },
  access: { ...readAccess, review: { inherits: 'webhooks.get' } },
  target: ({ em, params }) => findWebhook(em, params.id),
  targetName: 'webhook',
  handle: async ({ em, target, query, principal }) => {
    const page = await listDeliveries(em, target.webhook.id, query, query);
    const showsText = mayChange(principal, target, target.webhook.events);
    return { deliveries: page.items.map((each) => viewDelivery(each, showsText)), next_cursor: page.nextCursor };
  },
});

export const getDelivery = read({
  id: 'webhooks.get_delivery',
  route: 'GET /api/v1/admin/webhooks/:id/deliveries/:deliveryID',
  summary: 'Read a delivery with its last tries and, for those who may change the webhook, the body of its message',
  params: DeliveryParams,
  responses: { 200: DeliveryDetailsView },
  access: { ...readAccess, review: { inherits: 'webhooks.get' } },
  target: ({ em, params }) => findWebhook(em, params.id),
  targetName: 'webhook',
  handle: async ({ em, target, params, principal }) => {
    const delivery = await readDelivery(em, target.webhook.id, params.deliveryID);
    if (!delivery) throw new NotFound('delivery');
    return show(em, principal, target, delivery);
  },
});

export const redeliver = command({
  id: 'webhooks.redeliver',
  route: 'POST /api/v1/admin/webhooks/:id/deliveries/:deliveryID/redeliver',
  summary: 'Send the message of a delivery again, with the same id',
  description:
    'A delivery that still waits is tried at once; one that has ended gets a new delivery of the same message.',
  params: DeliveryParams,
  responses: { 202: DeliveryDetailsView },
  at: getDelivery,
  access: { ...writeAccess, review: { ...review, verb: 'redeliver', parameter: 'id' } },
  target: ({ em, params, lock }) => findWebhook(em, params.id, lock),
  targetName: 'webhook',
  resourceId: ({ params }) => params.id,
  idempotency: 'none',
  audit: 'webhook.redelivered',
  handle: async ({ tx, target, params, principal }) => {
    const { id, isEnabled, events } = target.webhook;
    checkAuditPatterns(principal, target, events);
    const delivery = await readDelivery(tx.em, id, params.deliveryID);
    if (!delivery) throw new NotFound('delivery');
    if (!isEnabled) throw new Conflict('the webhook is disabled: enable it first', 'webhook_disabled');
    const repeated = await repeatDelivery(tx.em, delivery);
    const { eventId, eventType } = delivery;
    const shown = await show(tx.em, principal, target, await readBack(readDelivery(tx.em, id, repeated)));
    return { id, after: { deliveryId: repeated, eventId, eventType, repeats: delivery.id }, answer: shown };
  },
  atParams: ({ id, answer }) => ({ id, deliveryID: answer.id }),
});

async function show(em: Em, principal: Principal, target: WebhookTarget, delivery: TriedDelivery) {
  const { id, events } = target.webhook;
  const showsText = mayChange(principal, target, events);
  const content = showsText ? await findContent(em, id, delivery.id) : null;
  return viewDeliveryDetails(delivery, { body: content && payloadOf(content), showsText });
}

export const test = command({
  id: 'webhooks.test',
  route: 'POST /api/v1/admin/webhooks/:id/test',
  summary: 'Send a message of the type webhook.test now, and answer what the endpoint said',
  description:
    'It uses the saved address and secret, also while the webhook is disabled, and takes 15 seconds at most. You, and an owner, ' +
    'have four tests under way at most; beyond them it answers 429.',
  params: WebhookParams,
  responses: { 200: WebhookTestView },
  access: { ...writeAccess, review: { ...review, verb: 'test' } },
  target: ({ em, params, lock }) => findWebhook(em, params.id, lock),
  targetName: 'webhook',
  idempotency: 'none',
  audit: 'webhook.tested',
  prepare: ({ target, principal, services }) => {
    const { webhook } = target;
    const { log, keyRing, outboundHttp: http } = services;
    const message = { id: `msg_${newId()}`, body: testPayload(webhook.id, new Date()) };
    return limitTest(principal, target, () => tryToSend({ log, keyRing, http }, webhook, () => message));
  },
  handle: async ({ target, prepared }) => {
    const { status, problem } = prepared;
    return { id: target.webhook.id, after: { status, problem }, answer: viewTest(prepared) };
  },
});

export const rotate = command({
  id: 'webhooks.rotate',
  route: 'POST /api/v1/admin/webhooks/:id/rotate',
  summary: 'Replace the secret, which is shown once',
  description:
    'For 24 hours, requests carry signatures by both secrets, so that the endpoint can change over without a gap. ' +
    'Rotating again within these 24 hours ends the oldest secret at once: only the last two secrets ever sign.',
  params: WebhookParams,
  body: RotateWebhook.prefault({}),
  responses: { 200: IssuedWebhookView },
  at: get,
  access: { ...writeAccess, review: { ...review, verb: 'rotate' } },
  target: ({ em, params, lock }) => findWebhook(em, params.id, lock),
  targetName: 'webhook',
  idempotency: 'none',
  showsOnce: true,
  audit: 'webhook.secret_rotated',
  handle: async ({ tx, target, body, services, operations, principal }) => {
    const { webhook } = target;
    checkAuditPatterns(principal, target, webhook.events);
    const secret = await rotateSecret(tx, services.keyRing, target, body.expected_revision);
    const shown = viewWebhook(await readBack(readWebhook(tx.em, webhook.id)), principal);
    const actions = webhookActions.describe({ operations, principal }, target);
    const { id, revision, previousUntil } = webhook;
    return { id, revision, after: { overlapUntil: previousUntil }, answer: { ...shown, actions, secret } };
  },
});
