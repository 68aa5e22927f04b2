import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { readList } from '#api/pipeline/list.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { ownerParameters, ownerQuery, toOwnerIds } from '#api/pipeline/owned.ts';
import { Nothing, pageOf } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import { findRowOwner } from '#domain/owners/owner.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { Id } from '#domain/shared/ids.ts';
import { checkOutboundField } from '#domain/shared/outbound/outbound.ts';
import { pageQuery } from '#domain/shared/paging/paging.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { findWebhook, listWebhooks, readWebhook } from '#domain/webhooks/store.ts';
import { createWebhook, deleteWebhook, type NewWebhook, updateWebhook } from '#domain/webhooks/webhook-changes.ts';
import { createAccess, listAccess, readAccess, review, writeAccess } from './access.ts';
import { webhookActions } from './actions.ts';
import { checkAuditPatterns } from './audit-authority.ts';
import { CreateWebhook, UpdateWebhook } from './bodies.ts';
import { checkPatterns, eventCatalogue } from './event-catalogue.ts';
import { IssuedWebhookView, ListedWebhookView, viewWebhook, WebhookView } from './views.ts';

export const WebhookParams = z.strictObject({ id: Id });

export const list = readList({
  id: 'webhooks.list',
  route: 'GET /api/v1/admin/webhooks',
  summary: 'List the webhooks that you may read',
  query: z.strictObject({ ...pageQuery, ...ownerQuery }),
  responses: { 200: pageOf('webhooks', ListedWebhookView) },
  access: listAccess,
  owners: ownerParameters,
  handle: async ({ em, principal, query }) => {
    const page = await listWebhooks(em, principal, toOwnerIds(query), query);
    return { webhooks: page.items.map((webhook) => viewWebhook(webhook, principal)), next_cursor: page.nextCursor };
  },
});

export const listEvents = read({
  id: 'webhooks.list_events',
  route: 'GET /api/v1/admin/webhooks/events',
  summary: 'List the types of events that a webhook can hear',
  responses: {
    200: z
      .object({ events: z.array(z.object({ type: z.string(), subject: z.string(), summary: z.string() })) })
      .meta({ id: 'WebhookEvents' }),
  },
  access: { scope: 'platform', hidden: 'not_found', anyOf: ['webhook:manage'], review: 'none' },
  handle: async ({ operations }) => ({
    events: eventCatalogue(operations).map(({ type, subject, summary }) => ({ type, subject, summary })),
  }),
});

export const get = read({
  id: 'webhooks.get',
  route: 'GET /api/v1/admin/webhooks/:id',
  summary: 'Read a webhook',
  params: WebhookParams,
  responses: { 200: WebhookView },
  access: readAccess,
  target: ({ em, params }) => findWebhook(em, params.id),
  targetName: 'webhook',
  handle: async ({ em, operations, principal, target }) => {
    const webhook = await readWebhook(em, target.webhook.id);
    if (!webhook) throw new NotFound('webhook');
    return { ...viewWebhook(webhook, principal), actions: webhookActions.describe({ operations, principal }, target) };
  },
});

export const create = command({
  id: 'webhooks.create',
  route: 'POST /api/v1/admin/webhooks',
  summary: 'Create a webhook; its secret is shown once',
  description:
    'It receives the events that happen from now on to what its owner owns; without an owner, all events. The service checks the ' +
    'address now, and again whenever it connects to it.',
  body: CreateWebhook,
  responses: { 201: IssuedWebhookView },
  at: get,
  access: createAccess,
  target: ({ em, body, lock }) => findRowOwner(em, toOwnerIds(body), lock),
  targetName: 'owner',
  idempotency: 'none',
  showsOnce: true,
  audit: 'webhook.created',
  prepare: async ({ body, services, operations }) => {
    checkPatterns(operations, body.events);
    await checkUrl(services, body.url);
  },
  handle: async ({ tx, target, body, services, operations, principal }) => {
    const { name, url, events, enabled } = body;
    checkAuditPatterns(principal, { ...target, projectId: target.columns.projectId }, events);
    const wanted = { name, url, events, isEnabled: enabled };
    const { webhook, secret } = await createWebhook(tx, services.keyRing, target, wanted);
    const shown = viewWebhook(await readBack(readWebhook(tx.em, webhook.id)), principal);
    const actions = webhookActions.describe({ operations, principal }, { ...target, webhook });
    const { revision, id } = webhook;
    return {
      id,
      revision,
      after: { name, url: auditedUrl(services, url), events, enabled },
      answer: { ...shown, actions, secret },
    };
  },
});

export const update = command({
  id: 'webhooks.update',
  route: 'PATCH /api/v1/admin/webhooks/:id',
  summary: 'Change, enable or disable a webhook; what is left out stays',
  params: WebhookParams,
  body: UpdateWebhook,
  responses: { 200: WebhookView },
  at: get,
  access: writeAccess,
  target: ({ em, params, lock }) => findWebhook(em, params.id, lock),
  targetName: 'webhook',
  idempotency: 'none',
  audit: 'webhook.updated',
  prepare: async ({ body, services, operations }) => {
    if (body.events) checkPatterns(operations, body.events);
    if (body.url !== undefined) await checkUrl(services, body.url);
  },
  handle: async ({ tx, target, body, services, principal }) => {
    const { name, url, events, enabled: isEnabled, expected_revision: expected } = body;
    const { webhook } = target;
    checkAuditPatterns(principal, { ...target, projectId: webhook.projectId ?? null }, [
      ...webhook.events,
      ...(events ?? []),
    ]);
    const { before, after } = await updateWebhook(tx, target, { name, url, events, isEnabled }, expected);
    const [was, is] = [before, after].map((fields) => toAudited(services, fields));
    return { id: webhook.id, before: was ?? null, after: is ?? null, revision: webhook.revision };
  },
});

export const remove = command({
  id: 'webhooks.delete',
  route: 'DELETE /api/v1/admin/webhooks/:id',
  summary: 'Delete a webhook with its deliveries; what waits is not sent',
  params: WebhookParams,
  responses: { 204: Nothing },
  access: { ...writeAccess, review: { ...review, verb: 'delete' } },
  target: ({ em, params, lock }) => findWebhook(em, params.id, lock),
  targetName: 'webhook',
  idempotency: 'none',
  ifMatch: true,
  audit: 'webhook.deleted',
  handle: async ({ tx, target, expectedRevision, services, principal }) => {
    const { id, name, url, events, revision } = target.webhook;
    checkAuditPatterns(principal, target, events);
    await deleteWebhook(tx, target.webhook, expectedRevision);
    return { id, before: { name, url: auditedUrl(services, url), events }, revision };
  },
});

/** @throws Unprocessable naming the rule that the address breaks */
async function checkUrl({ config }: Services, url: string): Promise<void> {
  await checkOutboundField('url', url, config.outbound);
}

/** The fields of a webhook as the audit stores them. */
function toAudited(services: Services, { isEnabled, url, ...fields }: Partial<NewWebhook>) {
  return {
    ...fields,
    ...(url !== undefined && { url: auditedUrl(services, url) }),
    ...(isEnabled !== undefined && { enabled: isEnabled }),
  };
}

/**
 * The address as the audit stores it: its host, and a digest that tells addresses apart. The path may be a secret, as in addresses of
 * chats.
 */
function auditedUrl({ installation }: Services, url: string) {
  const digest = createHmac('sha256', installation.bindingKey).update(`webhook address\n${url}`).digest('hex');
  return { host: new URL(url).host, digest: `hmac-sha256:${digest}` };
}
