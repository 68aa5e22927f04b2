import { z } from 'zod';
import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import type { Em } from '#database/database.ts';
import { notificationKindNames, notificationKinds } from '#domain/notifications/model.ts';
import { readPreferences, replacePreferences } from '#domain/notifications/preferences-store.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { ownAsUser } from './operations.ts';

const kind = z.enum(notificationKindNames);

const preferenceActions = actionsOf<Ownership>()({ replace: { operation: 'notification_preferences.replace' } });

const PreferencesView = z
  .object({
    preferences: z.array(
      z.object({
        kind,
        description: z.string().describe('What is told, and to whom.'),
        page: z.boolean().describe('Whether you are told among your notifications.'),
      }),
    ),
    actions: preferenceActions.view,
  })
  .meta({ id: 'NotificationPreferences' });

const ReplacePreferences = z
  .strictObject({
    preferences: z
      .array(z.strictObject({ kind, page: z.boolean() }))
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
  handle: ({ em, principal, operations }) => show(em, { operations, principal }),
});

export const replace = command({
  id: 'notification_preferences.replace',
  route: 'PUT /api/v1/notifications/preferences',
  summary: 'Say of which kinds of notifications you want to hear; those that are left out are on',
  description: 'It is about what happens from now on. What you were told before stays.',
  body: ReplacePreferences,
  responses: { 200: PreferencesView },
  access: ownAsUser,
  idempotency: 'none',
  audit: 'notification_preferences.replaced',
  handle: async ({ tx, principal, body, operations }) => {
    const before = await readPreferences(tx.em, principal.id);
    await replacePreferences(tx.em, principal.id, body.preferences);
    const after = await readPreferences(tx.em, principal.id);
    const audited = { before: { muted: mutedOf(before) }, after: { muted: mutedOf(after) } };
    return { id: principal.id, ...audited, answer: await show(tx.em, { operations, principal }) };
  },
});

async function show(em: Em, context: ActionContext): Promise<z.input<typeof PreferencesView>> {
  const preferences = await readPreferences(em, context.principal.id);
  return {
    preferences: preferences.map((each) => ({ ...each, description: notificationKinds[each.kind] })),
    actions: preferenceActions.describe(context, installationOwnership),
  };
}

function mutedOf(preferences: Awaited<ReturnType<typeof readPreferences>>): string[] {
  return preferences.filter(({ page }) => !page).map((each) => each.kind);
}
