import type { JsonValue } from '#domain/shared/values/json.ts';
import { noCounts, type SectionCounts } from './section-counts.ts';

/** What a plan would do to each resource, and how many it would change in which way. Pure. */

/** `replace`: deleted and created, in either order. `forget`: no longer managed, and not destroyed. */
export const changeActions = ['create', 'update', 'delete', 'replace', 'read', 'forget', 'no-op'] as const;
export type ChangeAction = (typeof changeActions)[number];

/** Whether an action changes its resource. Reading a data source changes nothing. */
export function isEffective(action: ChangeAction): boolean {
  return action !== 'no-op' && action !== 'read';
}

/** Where a value is in a resource: names of attributes, keys of maps, and positions in lists. Empty: the whole resource. */
export type ValuePath = (string | number)[];

/** The maximum number of paths in a list. A plan keeps the first ones of a longer list. */
export const maxPaths = 200;

/** Where a secret value is, and whether the change concerns it. */
export interface SensitivePath {
  path: ValuePath;
  changed: boolean;
  /**
   * Only for a scan: an HMAC of the real value, with a key of the instance. It tells one secret value from another without keeping either,
   * and never leaves the service.
   */
  digest?: string | undefined;
}

/** What is known about all secret values together that a plan does not list. */
export interface OtherSecrets {
  changed: boolean;
  /** Only for a scan: one HMAC over all these values, like that of `SensitivePath`. */
  digest?: string | undefined;
}

/**
 * Why a scan cannot say which value it expects. `unknown`: only an apply would know the value. `perpetual`: the configuration itself causes
 * this, for example with `timestamp()`, so every scan finds it again. Nobody changed the resource in either case.
 */
export const expectations = ['unknown', 'perpetual'] as const;
export type Expectation = (typeof expectations)[number];

/**
 * A change of one resource. Secret values are `{"sensitive": true}`, values not known yet are `{"unknown": true}`. The optional
 * members are absent where the tool does not say them, and from plans that were stored before the service kept them.
 */
export interface ResourceChange {
  address: string;
  action: ChangeAction;
  before: JsonValue;
  after: JsonValue;
  type?: string | undefined;
  /** The resource is moved from this address. */
  previousAddress?: string | undefined;
  /** The resource exists already and is taken into the state. The id is null while it is not known. */
  imported?: { id: string | null } | undefined;
  /** Why the tool chose the action, as the tool reports it, such as `replace_because_tainted`. */
  actionReason?: string | undefined;
  /** The values that force the replacement. */
  replacePaths?: ValuePath[] | undefined;
  /** The values that are known only after the apply. */
  unknownPaths?: ValuePath[] | undefined;
  /** The values that are secret. */
  sensitivePaths?: SensitivePath[] | undefined;
  /** Absent: all secret values are listed. */
  otherSecrets?: OtherSecrets | undefined;
  /** Of a scan. Absent: the scan knows which values it expects. */
  expectation?: Expectation | undefined;
}

/** The counts of a plan. A replacement counts as `replace`, and also as an addition and as a destruction. */
export interface PlanSummary extends SectionCounts {
  add: number;
  change: number;
  destroy: number;
  replace: number;
  forget: number;
  import: number;
  move: number;
}

/** Summaries of earlier releases have only the first three members. */
export type StoredSummary = Pick<PlanSummary, 'add' | 'change' | 'destroy'> & Partial<PlanSummary>;

export function completeSummary(summary: StoredSummary): PlanSummary {
  return { replace: 0, forget: 0, import: 0, move: 0, ...noCounts, ...summary };
}

export function summarizePlan(
  changes: readonly Pick<ResourceChange, 'action' | 'previousAddress' | 'imported'>[],
  beside: SectionCounts = noCounts,
): PlanSummary {
  const count = (...actions: ChangeAction[]) => changes.filter(({ action }) => actions.includes(action)).length;
  return {
    add: count('create', 'replace'),
    change: count('update'),
    destroy: count('delete', 'replace'),
    replace: count('replace'),
    forget: count('forget'),
    import: changes.filter(({ imported }) => imported !== undefined).length,
    move: changes.filter(({ previousAddress }) => previousAddress !== undefined).length,
    ...beside,
  };
}
