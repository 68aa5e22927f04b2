import type { Em } from '#database/database.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { NotFound, refuseFields } from '#domain/shared/errors.ts';
import { findInstallation } from '#domain/shared/installation/store.ts';
import { type Difference, findDifference, refuseStale } from '#domain/shared/revisions.ts';
import { defaultPool } from '#domain/shared/vocabulary/pools.ts';
import type { FeatureGate, SettingsDocument, SettingsGroups, SingleSettings } from './document.ts';
import { lockSettings, readSettings, type StoredSettings, saveSettings, sharePool } from './store.ts';

/** The settings, which belong to the whole installation. */
export interface SettingsTarget extends Ownership, StoredSettings {}

export async function findSettings(em: Em, lock: boolean): Promise<SettingsTarget> {
  return { ...installationOwnership, ...(await (lock ? lockSettings(em) : readSettings(em))) };
}

/**
 * Changes the settings; the caller has locked them. They take effect with the commit, in every process.
 * @throws Conflict for a stale revision; Unprocessable for a default pool that does not exist
 */
export async function updateSettings(
  tx: Transaction,
  target: SettingsTarget,
  { expectedRevision, ...change }: SettingsChange & { readonly expectedRevision: number | undefined },
  by: Principal,
): Promise<{ updated: StoredSettings; difference: Difference<SettingsDocument> }> {
  refuseStale(target, expectedRevision);
  const document = mergeSettings(target.document, change);
  const difference = compare(target.document, document);
  if (difference.isEmpty) return { updated: target, difference };
  if (difference.after.default_pool) await requirePool(tx.em, difference.after.default_pool);
  const updated = await saveSettings(tx.em, document);
  const changed = [...new Set([...Object.keys(difference.before), ...Object.keys(difference.after)])];
  const installation = await findInstallation(tx.em);
  if (!installation) throw new NotFound('the installation');
  const data = { by: by.name, changed, features_off: Object.keys(document.features ?? {}) };
  tx.publish({ type: 'settings.changed', subjectId: installation.id, owners: { teamId: null }, data });
  return { updated, difference };
}

/** The settings that differ, by name; null: not set. */
function compare(before: SettingsDocument, after: SettingsDocument): Difference<SettingsDocument> {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof SettingsDocument)[];
  const complete = (document: SettingsDocument) =>
    Object.fromEntries(names.map((name) => [name, document[name] ?? null])) as SettingsDocument;
  return findDifference(complete(before), complete(after));
}

/** Refuses a default pool that does not exist. It takes a share lock on the pool until the commit, so that nobody deletes it before. */
async function requirePool(em: Em, name: string): Promise<void> {
  if (name === defaultPool || (await sharePool(em, name))) return;
  const problem = `there is no worker pool "${name}": create it first`;
  throw refuseFields('unknown_reference', [{ path: 'default_pool', problem }]);
}

type Nullable<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** A change of the settings. Omitted settings stay, and null restores the default. */
type SettingsChange = Nullable<SingleSettings> & {
  readonly [Name in keyof SettingsGroups]?: Nullable<NonNullable<SettingsGroups[Name]>> | null | undefined;
};

/** The document after a change. It contains only settings that are set, so that defaults can change with the installation. */
function mergeSettings(document: SettingsDocument, change: SettingsChange): SettingsDocument {
  const { retention, default_quotas: quotas, features, ...single } = change;
  return withoutEmpty({
    ...document,
    ...definedOf(single),
    retention: mergeGroup(document.retention, retention),
    default_quotas: mergeGroup(document.default_quotas, quotas),
    features: withoutOpen(mergeGroup(document.features, features)),
  }) as SettingsDocument;
}

/** The members of a group after a change; null restores the defaults of all of them. */
function mergeGroup<Group extends object>(
  current: Group | undefined,
  change: Nullable<Group> | null | undefined,
): Nullable<Group> {
  return change === null ? {} : { ...current, ...definedOf(change) };
}

function definedOf(members: object = {}): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Removes gates that are on, because a feature is on by default. */
function withoutOpen(gates: Readonly<Record<string, FeatureGate | null | undefined>>): object {
  return Object.fromEntries(Object.entries(gates).filter(([, gate]) => gate?.enabled === false));
}

function withoutEmpty(members: object): object {
  const kept = Object.entries(members)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [name, isGroup(value) ? withoutNull(value) : value] as const);
  return Object.fromEntries(kept.filter(([, value]) => !isGroup(value) || Object.keys(value).length > 0));
}

function withoutNull(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
