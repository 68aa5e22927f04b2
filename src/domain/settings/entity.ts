import { defineEntity, p } from '@mikro-orm/core';
import { at, revision } from '#database/columns.ts';
import type { SettingsDocument } from './document.ts';

/** The settings of the installation. A migration makes the one row. */
export const SettingsSchema = defineEntity({
  name: 'Settings',
  tableName: 'settings',
  checks: [{ name: 'settings_only_check', expression: 'only' }],
  properties: {
    /** Always true, so that there is only one row. */
    only: p.boolean().primary().default(true),
    /** What an administrator has set. What is missing has its default. */
    document: p.json<SettingsDocument>().default('{}'),
    revision: revision(),
    updatedAt: at().nullable(),
  },
});
