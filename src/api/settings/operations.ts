import { command, read } from '#api/pipeline/operation.ts';
import { findSettings, updateSettings } from '#domain/settings/settings.ts';
import type { Access } from '#domain/shared/access/decide.ts';
import { toSettingsChange, UpdateSettings } from './bodies.ts';
import { SettingsView, settingsName, toSettings } from './views.ts';

const access = {
  anyOf: ['settings.manage'],
  scope: 'platform',
  hidden: 'not_found',
} as const satisfies Partial<Access>;

export const get = read({
  id: 'settings.get',
  route: 'GET /api/v1/admin/settings',
  summary: 'Read the settings of the installation',
  responses: { 200: SettingsView },
  access: { ...access, review: { resource: 'settings', verb: 'get', only: settingsName } },
  target: ({ em }) => findSettings(em, false),
  resourceId: () => settingsName,
  handle: async ({ target, operations, principal, services }) =>
    toSettings(target, services.config, { operations, principal }),
});

export const update = command({
  id: 'settings.update',
  route: 'PATCH /api/v1/admin/settings',
  summary: 'Change settings of the installation; what is left out stays, and null restores the default',
  description:
    'Null restores the default of a setting, and in `retention`, `default_quotas` and `features` also of a member. A change holds from the next request on, in every process. An area that is turned off starts nothing new, and what it has cannot be read or changed; what it has started goes on.',
  body: UpdateSettings,
  responses: { 200: SettingsView },
  access: { ...access, review: { resource: 'settings', verb: 'update', only: settingsName } },
  target: ({ em, lock }) => findSettings(em, lock),
  resourceId: () => settingsName,
  idempotency: 'none',
  audit: 'settings.updated',
  handle: async ({ tx, target, body, principal, operations, services }) => {
    const { updated, difference } = await updateSettings(tx, target, toSettingsChange(body), principal);
    const answer = toSettings({ ...target, ...updated }, services.config, { operations, principal });
    const { before, after } = difference;
    return { id: settingsName, before, after, revision: updated.revision, answer };
  },
});
