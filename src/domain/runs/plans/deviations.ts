import { createHash } from 'node:crypto';
import type { Effort } from '#domain/shared/values/comparison/compare.ts';
import { isSecret } from '#domain/shared/values/comparison/marks.ts';
import { isWithin, type ValuePath } from '#domain/shared/values/comparison/paths.ts';
import { listValueChanges, type ValueChange } from '#domain/shared/values/comparison/value-changes.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { type ChangeAction, type Expectation, isEffective, type ResourceChange } from './model.ts';

/**
 * What differs between two descriptions of resources, by address and path of the attribute. The comparison of plans that drift and undo
 * share. Pure.
 */

/** A value of a resource that differs. */
export interface Deviation {
  readonly address: string;
  /**
   * The attribute as people write it, such as `rules[name="web"].port`; an item of a list is named by a value that identifies it, so its
   * path stays the same when the order changes. Empty: the whole resource was deleted or is new. Each path of an address occurs once.
   */
  readonly path: string;
  /** Null: there is no such value. A secret is `{"sensitive": true}`, and a value that only an apply would know is `{"unknown": true}`. */
  readonly before: JsonValue;
  readonly after: JsonValue;
  /** One of the sides is secret, so two different values may look the same. */
  readonly sensitive: boolean;
  /**
   * Only for a scan. It changes if the real secret values change (`SensitivePath.digest`). Null if there are none, or if their digests are
   * not known.
   */
  readonly secretDigest: string | null;
  /** What happened to the resource. */
  readonly action: ChangeAction;
  /** Only for a scan that does not know which value it expects. */
  readonly expectation?: Expectation | undefined;
}

/**
 * The values that differ, ordered by address and path. The same changes have the same deviations on every machine: the depth of the
 * comparison depends only on the size of a value, never on the time that the comparison takes.
 */
export function deviationsOf(changes: readonly ResourceChange[]): Deviation[] {
  const found = new Map<string, Deviation>();
  for (const deviation of changes.filter(({ action }) => isEffective(action)).flatMap(compareResource)) {
    const key = JSON.stringify([deviation.address, deviation.path]);
    const known = found.get(key);
    found.set(key, known ? merge(known, deviation) : deviation);
  }
  return [...found.values()].sort(byPlace);
}

/** The addresses of the resources that the changes create, change, destroy or forget. A moved resource has both of its addresses. */
export function touchedAddresses(changes: readonly ResourceChange[]): string[] {
  const touched = changes.filter(({ action, previousAddress }) => isEffective(action) || previousAddress !== undefined);
  const addresses = touched.flatMap(({ address, previousAddress }) => [address, previousAddress ?? address]);
  return [...new Set(addresses)].sort();
}

function compareResource(change: ResourceChange): Deviation[] {
  const { address, action, before, after } = change;
  if (before === null && after === null) return [];
  if (before === null || after === null) {
    const sensitive = hasSecret(before) || hasSecret(after);
    return [{ address, path: '', before, after, sensitive, secretDigest: digestAt(change, after, []), action }];
  }
  const differences = differencesOf(change, false).map((difference) => toDeviation(change, difference));
  const known = change.otherSecrets?.changed ? [...differences, deviationOfOthers(change)] : differences;
  if (known.length > 0) return known;
  // If nothing else explains a change, it concerns a secret that the plan does not list, such as a text that contains a known secret.
  return differencesOf(change, true).map((difference) => toDeviation(change, difference));
}

/** The path of the deviation for unlisted secrets. No attribute has a name with a space, so it cannot collide. */
const otherSecretsPath = '(other secrets)';

/** The secrets beyond those that a plan lists make one deviation: which of them differs is not stored. */
function deviationOfOthers({ address, action, otherSecrets }: ResourceChange): Deviation {
  const secret = { sensitive: true };
  const secretDigest = otherSecrets?.digest ?? null;
  return { address, path: otherSecretsPath, before: secret, after: secret, sensitive: true, secretDigest, action };
}

/** `secretsMayChange`: whether secrets that the plan does not list count as changed. */
function differencesOf(
  { before, after, sensitivePaths }: ResourceChange,
  secretsMayChange: boolean,
): readonly ValueChange[] {
  return listValueChanges(before, after, {
    effort: newBoundedEffort(),
    isNullMissing: true,
    secrets: { values: sensitivePaths ?? [], othersMayChange: secretsMayChange },
  }).changes;
}

/** A larger resource is compared in larger parts. Time is not limited, so that every scan names a deviation by the same path. */
function newBoundedEffort(): Effort {
  return { left: 150_000, characters: Number.POSITIVE_INFINITY, until: Number.POSITIVE_INFINITY };
}

function toDeviation(
  change: ResourceChange,
  { label, path, before = null, after = null, sensitive }: ValueChange,
): Deviation {
  const { address, action, expectation } = change;
  const secretDigest = digestAt(change, after, path);
  return { address, path: label, before, after, sensitive, secretDigest, action, ...(expectation && { expectation }) };
}

/** One digest of all secrets in a real value. */
function digestAt(change: ResourceChange, after: JsonValue, path: ValuePath): string | null {
  if (!hasSecret(after)) return null;
  const { sensitivePaths = [], otherSecrets } = change;
  const inside = sensitivePaths.filter((each) => each.digest !== undefined && isWithin(each.path, path));
  const listed = inside.map((each) => JSON.stringify([each.path, each.digest])).sort();
  // For a changed resource, the other secrets have a deviation of their own.
  if (path.length === 0 && otherSecrets?.digest) listed.push(otherSecrets.digest);
  if (listed.length === 0) return null;
  return createHash('sha256').update(listed.join('\n')).digest('base64url');
}

/**
 * In a list of texts or numbers, a changed item is reported as one that was removed and one that was added at the same path: it is one
 * deviation.
 */
function merge(one: Deviation, other: Deviation): Deviation {
  return {
    ...one,
    before: one.before ?? other.before,
    after: one.after ?? other.after,
    sensitive: one.sensitive || other.sensitive,
    secretDigest: one.secretDigest ?? other.secretDigest,
  };
}

function hasSecret(value: JsonValue | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return isSecret(value) || Object.values(value).some(hasSecret);
}

function byPlace(one: Deviation, other: Deviation): number {
  return compareTexts(one.address, other.address) || compareTexts(one.path, other.path);
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
