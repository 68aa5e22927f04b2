import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import { readForChange } from '#database/row-lock.ts';
import { db, prepare } from '#domain/db.ts';
import { Unavailable } from '#domain/shared/errors.ts';
import { type ClosedFeatures, readClosedFeatures } from '#domain/shared/features/gates.ts';
import { toStoredTools } from './allowed-tools.ts';
import { type SettingsDocument, StoredDocument } from './document.ts';
import { Settings } from './entity.ts';

/** The settings as they are stored. */
export interface StoredSettings {
  readonly document: SettingsDocument;
  readonly revision: number;
  readonly updatedAt: string | null;
}

const selectSettings = prepare((db) => db.selectFrom('settings').select(['document', 'revision', 'updatedAt']));

/**
 * The settings at this moment: one row, read whenever something depends on it and never kept, so that every process follows a change at
 * once.
 * @throws Unavailable if the row is missing or damaged: nothing that depends on the settings is allowed then
 */
export async function readSettings(em: Em): Promise<StoredSettings> {
  return toSettings((await selectSettings(em, {}))[0]);
}

/** Takes a share lock on the settings until the commit, so that they do not change. */
export async function shareSettings(em: Em): Promise<void> {
  await db(em).selectFrom('settings').select('revision').forShare().execute();
}

/** Locks the settings for a change, and reads them. */
export async function lockSettings(em: Em): Promise<StoredSettings> {
  const row = await db(em)
    .selectFrom('settings')
    .select(['document', 'revision', 'updatedAt'])
    .forNoKeyUpdate()
    .executeTakeFirst();
  return toSettings(row);
}

function toSettings(row: { document: unknown; revision: number; updatedAt: string | null } | undefined) {
  const parsed = StoredDocument.safeParse(row?.document);
  if (!row || !parsed.success) {
    throw new Unavailable('the settings of the installation cannot be read', { cause: parsed.error });
  }
  return { ...row, document: parsed.data as SettingsDocument };
}

/** Replaces the document. The caller has locked the row. */
export async function saveSettings(em: Em, document: SettingsDocument): Promise<StoredSettings> {
  const settings = await readForChange(em, Settings, { only: true });
  settings.replaceDocument(toStored(document));
  await em.flush();
  return { document, revision: settings.revision, updatedAt: settings.updatedAt?.toISOString() ?? null };
}

function toStored({ allowed_tools: allowed, ...document }: SettingsDocument): z.input<typeof StoredDocument> {
  return { ...document, ...(allowed && { allowed_tools: toStoredTools(allowed) }) };
}

/** The features that are off, for work that the service starts by itself. */
export async function readGates(em: Em): Promise<ClosedFeatures> {
  return readClosedFeatures((await readSettings(em)).document.features ?? {});
}

/** Takes a share lock on the row of a pool until the commit. False: no operator has created a pool of that name. */
export async function sharePool(em: Em, name: string): Promise<boolean> {
  const row = await db(em)
    .selectFrom('worker_pools')
    .where('name', '=', name)
    .select('name')
    .forKeyShare()
    .executeTakeFirst();
  return row !== undefined;
}
