import { defineEntity, p } from '@mikro-orm/core';
import type { z } from 'zod';
import { at, revision } from '#database/columns.ts';
import type { StoredDocument } from './document.ts';

/** The settings of the installation. A migration creates the one row. */
export const SettingsSchema = defineEntity({
  name: 'Settings',
  tableName: 'settings',
  checks: [{ name: 'settings_only_check', expression: 'only' }],
  properties: {
    /** Always true, so that there is only one row. */
    only: p.boolean().primary().default(true),
    /** The settings that an administrator has set. Missing ones have their defaults. */
    document: p.json<z.input<typeof StoredDocument>>().default('{}'),
    revision: revision(),
    updatedAt: at().nullable(),
  },
});
export class Settings extends SettingsSchema.class {
  /** Replaces the document, and raises the revision. */
  replaceDocument(document: z.input<typeof StoredDocument>): void {
    this.document = document;
    this.revision += 1;
    this.updatedAt = new Date();
  }
}
SettingsSchema.setClass(Settings);
