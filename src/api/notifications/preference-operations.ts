import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { Time } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import type { Em } from '#database/database.ts';
import { findMailbox, type Mailbox } from '#domain/message-sending/recipients-store.ts';
import { describeToUsers, notificationKindNames } from '#domain/news/model.ts';
import { type Chat, keepChat, readChat } from '#domain/notifications/chats-store.ts';
import {
  lockPreferences,
  readPreferences,
  readPreferencesRevision,
  replacePreferences,
  revisePreferences,
} from '#domain/notifications/preferences-store.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { checkOutboundField } from '#domain/shared/outbound/outbound.ts';
import { ExpectedRevision, refuseStale } from '#domain/shared/revisions.ts';
import { ownAsUser } from './views.ts';

const kind = z.enum(notificationKindNames);

const preferenceActions = actionsOf<Ownership>()({ replace: { operation: 'notification_preferences.replace' } });

export const PreferencesView = z
  .object({
    preferences: z.array(
      z.object({
        kind,
        description: z.string().describe('What is told, and to whom.'),
        page: z.boolean().describe('Whether you are told among your notifications.'),
        email: z.boolean().describe('Whether you are told by e-mail.'),
        chat: z.boolean().describe('Whether you are told in your chat.'),
      }),
    ),
    email: z
      .object({ address: z.string(), problem: z.string().nullable() })
      .describe('Where you get e-mail, and why you get none; null: you do.'),
    chat: z
      .object({
        host: z.string().nullable().describe('The host of your chat; null: you have named none.'),
        problem: z
          .string()
          .nullable()
          .describe('Why the last message that was tried did not arrive; null: it did, or none was tried.'),
        paused_until: Time.nullable().describe('After a failure, nothing is sent there until then.'),
      })
      .describe('Where you are told in a chat.'),
    revision: z.int(),
    actions: preferenceActions.view,
  })
  .meta({ id: 'NotificationPreferences' });

const ReplacePreferences = z
  .strictObject({
    preferences: z
      .array(z.strictObject({ kind, page: z.boolean(), email: z.boolean().optional(), chat: z.boolean().optional() }))
      .max(notificationKindNames.length)
      .refine((all) => new Set(all.map((each) => each.kind)).size === all.length, 'expected each kind once'),
    chat_url: z
      .string()
      .min(1)
      .max(2000)
      .nullable()
      .optional()
      .describe(
        'The address of an incoming webhook of Slack, or of a chat that takes the same, which you alone read. It is kept sealed; answers show its host. Left out: it stays. Null: it is removed.',
      ),
    ...ExpectedRevision,
  })
  .meta({ id: 'ReplaceNotificationPreferences' });

export const get = read({
  id: 'notification_preferences.get',
  route: 'GET /api/v1/notifications/preferences',
  summary: 'Read of which kinds of notifications you want to hear',
  responses: { 200: PreferencesView },
  access: ownAsUser,
  handle: ({ em, principal, operations, services }) => show(em, { operations, principal }, services),
});

export const replace = command({
  id: 'notification_preferences.replace',
  route: 'PUT /api/v1/notifications/preferences',
  summary: 'Say of which kinds of notifications you want to hear, and how',
  description:
    'It is about what happens from now on. What is left out is as for everybody: on the page, and by e-mail and in the chat where somebody ' +
    'is asked to do something.',
  body: ReplacePreferences,
  responses: { 200: PreferencesView },
  access: ownAsUser,
  idempotency: 'none',
  audit: 'notification_preferences.replaced',
  prepare: async ({ body, services }) => {
    if (body.chat_url) await checkOutboundField('chat_url', body.chat_url, services.config.outbound);
  },
  handle: async ({ tx, principal, body, operations, services }) => {
    await lockPreferences(tx.em, principal.id);
    refuseStale({ revision: await readPreferencesRevision(tx.em, principal.id) }, body.expected_revision);
    const before = await describe(tx.em, principal.id);
    await replacePreferences(tx.em, principal.id, body.preferences);
    if (body.chat_url !== undefined) await keepChat(tx.em, services.keyRing, principal.id, body.chat_url);
    const described = await describe(tx.em, principal.id);
    const after = body.chat_url ? { ...described, chatUrl: { ...described.chatUrl, isReplaced: true } } : described;
    const isChanged = !isDeepStrictEqual(before, after);
    if (isChanged) await revisePreferences(tx.em, principal.id);
    const answer = await show(tx.em, { operations, principal }, services);
    const audited = isChanged ? { before, after } : { before: {}, after: {} };
    return { id: principal.id, ...audited, revision: answer.revision, answer };
  },
});

async function show(em: Em, context: ActionContext, { config }: Services): Promise<z.input<typeof PreferencesView>> {
  const preferences = await readPreferences(em, context.principal.id);
  return {
    preferences: preferences.map((each) => ({ ...each, description: describeToUsers(each.kind) })),
    chat: viewChat(await readChat(em, context.principal.id)),
    email: await describeMailbox(em, context.principal.id, config.mail !== null),
    revision: await readPreferencesRevision(em, context.principal.id),
    actions: preferenceActions.describe(context, installationOwnership),
  };
}

function viewChat(chat: Chat | undefined) {
  return { host: chat?.host ?? null, problem: chat?.problem ?? null, paused_until: chat?.pausedUntil ?? null };
}

async function describeMailbox(em: Em, userId: string, isSent: boolean) {
  const mailbox = await findMailbox(em, userId);
  return { address: mailbox?.address ?? '', problem: findMailProblem(mailbox, isSent) };
}

function findMailProblem(mailbox: Mailbox | undefined, isSent: boolean): string | null {
  if (!isSent) return 'This installation sends no e-mail: an operator can set a mail server.';
  return mailbox?.isVerified ? null : 'Your address is not confirmed.';
}

/** The preferences as the audit stores them. */
async function describe(em: Em, userId: string) {
  const preferences = await readPreferences(em, userId);
  const chat = await readChat(em, userId);
  const mailed = preferences.filter(({ email }) => email).map((each) => each.kind);
  const muted = preferences.filter(({ page }) => !page).map((each) => each.kind);
  const chatted = preferences.filter((each) => each.chat).map((each) => each.kind);
  return { preferences: { muted, mailed, chatted }, chatUrl: { host: chat?.host ?? null } };
}
