import { type RawBuilder, sql } from 'kysely';
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

/** The settings that a transaction has read. */
const readBefore = new WeakMap<Em, Promise<StoredSettings>>();

/**
 * The settings at this moment: one row, read whenever something depends on it, so that every process follows a change at once. Within a
 * transaction it is read once.
 * @throws Unavailable if the row is missing or damaged: nothing that depends on the settings is allowed then
 */
export function readSettings(em: Em): Promise<StoredSettings> {
  return (em.isInTransaction() && readBefore.get(em)) || keep(em, selectSettings(em, {}));
}

/** Takes a share lock on the settings until the commit, so that they do not change, and reads them. */
export function shareSettings(em: Em): Promise<StoredSettings> {
  return keep(em, selectShared(em, {}));
}

const selectShared = prepare((db) =>
  db.selectFrom('settings').select(['document', 'revision', 'updatedAt']).forShare(),
);

/** The settings as one value, for a statement that also does something else. `keepSettings` takes it. */
export function storedSettings(): RawBuilder<SettingsRow | null> {
  return sql<SettingsRow | null>`(select jsonb_build_object(
    'document', s.document, 'revision', s.revision, 'updatedAt', s.updated_at::text) from settings s)`;
}

/** Lets `readSettings` return what a statement of the transaction has read by `storedSettings`. */
export function keepSettings(em: Em, row: SettingsRow | null): void {
  if (!readBefore.has(em)) keep(em, Promise.resolve(row === null ? [] : [row])).catch(() => undefined); // Whoever reads them gets the error.
}

function keep(em: Em, rows: Promise<readonly SettingsRow[]>): Promise<StoredSettings> {
  const settings = rows.then(([row]) => toSettings(row));
  if (em.isInTransaction()) readBefore.set(em, settings);
  return settings;
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

type SettingsRow = Awaited<ReturnType<typeof selectSettings>>[number];

function toSettings(row: SettingsRow | undefined): StoredSettings {
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
  readBefore.delete(em);
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
