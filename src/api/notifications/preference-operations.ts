import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import type { Services } from '#api/services.ts';
import type { Em } from '#database/database.ts';
import { findMailbox, type Mailbox } from '#domain/messages/sending/recipients-store.ts';
import { notificationKindNames, notificationKinds } from '#domain/notifications/model.ts';
import {
  lockPreferences,
  type Preference,
  readPreferences,
  replacePreferences,
} from '#domain/notifications/preferences-store.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { ownAsUser } from './operations.ts';

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
      }),
    ),
    email: z
      .object({ address: z.string(), problem: z.string().nullable() })
      .describe('Where you get e-mail, and why you get none; null: you do.'),
    actions: preferenceActions.view,
  })
  .meta({ id: 'NotificationPreferences' });

const ReplacePreferences = z
  .strictObject({
    preferences: z
      .array(z.strictObject({ kind, page: z.boolean(), email: z.boolean().optional() }))
      .max(notificationKindNames.length)
      .refine((all) => new Set(all.map((each) => each.kind)).size === all.length, 'name each kind once'),
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
    'It is about what happens from now on. What is left out is as for everybody: on the page, and by e-mail where somebody is asked to do ' +
    'something.',
  body: ReplacePreferences,
  responses: { 200: PreferencesView },
  access: ownAsUser,
  idempotency: 'none',
  audit: 'notification_preferences.replaced',
  handle: async ({ tx, principal, body, operations, services }) => {
    await lockPreferences(tx.em, principal.id);
    const before = await readPreferences(tx.em, principal.id);
    await replacePreferences(tx.em, principal.id, body.preferences);
    const after = await readPreferences(tx.em, principal.id);
    const audited = { before: describe(before), after: describe(after) };
    return { id: principal.id, ...audited, answer: await show(tx.em, { operations, principal }, services) };
  },
});

async function show(em: Em, context: ActionContext, { config }: Services): Promise<z.input<typeof PreferencesView>> {
  const preferences = await readPreferences(em, context.principal.id);
  return {
    preferences: preferences.map((each) => ({ ...each, description: notificationKinds[each.kind] })),
    email: await describeMailbox(em, context.principal.id, config.mail !== null),
    actions: preferenceActions.describe(context, installationOwnership),
  };
}

async function describeMailbox(em: Em, userId: string, isSent: boolean) {
  const mailbox = await findMailbox(em, userId);
  return { address: mailbox?.address ?? '', problem: findMailProblem(mailbox, isSent) };
}

function findMailProblem(mailbox: Mailbox | undefined, isSent: boolean): string | null {
  if (!isSent) return 'This installation sends no e-mail: an operator can set a mail server.';
  return mailbox?.isVerified ? null : 'Your address is not confirmed.';
}

/** What the audit keeps. */
function describe(preferences: readonly Preference[]) {
  const mailed = preferences.filter(({ email }) => email).map((each) => each.kind);
  const muted = preferences.filter(({ page }) => !page).map((each) => each.kind);
  return { muted, mailed };
}
