import type { FeatureGate, SettingsDocument, SettingsGroups, SingleSettings } from './document.ts';

type Nullable<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/** A change of the settings. What is left out stays, and null restores the default. */
export type SettingsChange = Nullable<SingleSettings> & {
  readonly [Name in keyof SettingsGroups]?: Nullable<NonNullable<SettingsGroups[Name]>> | null | undefined;
};

/** The document after a change. It holds only what differs from no setting at all, so that defaults can change with the installation. */
export function mergeSettings(document: SettingsDocument, change: SettingsChange): SettingsDocument {
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

/** A feature is on unless it says otherwise. */
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
