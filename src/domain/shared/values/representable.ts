import { createHash } from 'node:crypto';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { canonicalJson } from '../commands/canonical.ts';
import { Decimal } from './decimal.ts';
import { isJsonObject, type JsonValue } from './json.ts';
import { findUnstorable, findUnstorableText, maxStoredDepth } from './storable.ts';

/** Makes values of tools and templates storable: a mark replaces each part that the database cannot store. */

/** A part of a value that is not stored. */
export interface Unrepresentable {
  /** A JSON pointer into the value; empty for the whole of it. */
  readonly path: string;
  /** Why, such as "holds a NUL character". It never repeats the value. */
  readonly reason: string;
}

export interface Represented {
  readonly value: JsonValue;
  /** The parts that are not stored, up to a limit. */
  readonly missing: Unrepresentable[];
}

/** The maximum number of parts that are listed. */
const maxMissing = 50;

/**
 * Returns a value that can be stored. Each part that cannot be stored is replaced by `{"unrepresentable": {"reason": …, "digest": …}}`; the
 * digest distinguishes such parts. An object with a key that cannot be stored is replaced as a whole. `depth`: how many levels will be
 * around the value.
 */
export function representValue(value: JsonValue, depth = 0): Represented {
  if (findUnstorable(value, depth) === null) return { value, missing: [] };
  const missing: Unrepresentable[] = [];
  const replaced = replaceUnstorable(value, '', depth, missing);
  const reason = findUnstorable(replaced, depth);
  return reason === null
    ? { value: replaced, missing }
    : { value: markOf(value, reason), missing: [{ path: '', reason }] };
}

function markOf(value: JsonValue, reason: string): JsonValue {
  return { unrepresentable: { reason, digest: digestOf(value) } };
}

function replaceUnstorable(value: JsonValue, path: string, depth: number, missing: Unrepresentable[]): JsonValue {
  const reason = reasonOf(value, depth);
  if (reason !== null) {
    if (missing.length < maxMissing) missing.push({ path, reason });
    return markOf(value, reason);
  }
  if (Array.isArray(value))
    return value.map((each, index) => replaceUnstorable(each, `${path}/${index}`, depth + 1, missing));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    replaceUnstorable(member, `${path}/${escapePointer(name)}`, depth + 1, missing),
  ]);
  return Object.fromEntries(members);
}

/** Why a value itself cannot be stored, apart from its members. The mark has two levels. */
function reasonOf(value: JsonValue, depth: number): string | null {
  if (typeof value === 'string' || value instanceof Decimal) return findUnstorable(value);
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= maxStoredDepth - 2) return `is nested deeper than ${maxStoredDepth} levels`;
  if (Array.isArray(value)) return null;
  const problems = Object.keys(value).map((name) => findUnstorableText(name, Number.POSITIVE_INFINITY));
  const problem = problems.find((each) => each !== null);
  return problem ? `has a key that ${problem}` : null;
}

/** JSON writes half of a surrogate pair as an escape, so texts that contain different halves have different digests. */
function digestOf(value: JsonValue): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}

/**
 * The reason in the mark of a value that was not stored; null if the value is not such a mark. Template authors choose values, so a mark has
 * no other member: pages show the reason in its place, and would hide the member from reviewers.
 */
export function unrepresentableReason(value: JsonValue | undefined): string | null {
  if (!hasOnly(value, 'unrepresentable') || !hasOnly(value['unrepresentable'], 'reason', 'digest')) return null;
  const { reason, digest } = value['unrepresentable'];
  return typeof reason === 'string' && typeof digest === 'string' && digestPattern.test(digest) ? reason : null;
}

const digestPattern = /^sha256:[0-9a-f]{64}$/;

function hasOnly(value: JsonValue | undefined, ...names: string[]): value is { [name: string]: JsonValue } {
  return (
    isJsonObject(value) &&
    Object.keys(value).length === names.length &&
    names.every((name) => Object.hasOwn(value, name))
  );
}

/** Whether a value contains the mark of a part that was not stored. */
export function hasUnrepresentable(value: JsonValue | undefined): boolean {
  if (unrepresentableReason(value) !== null) return true;
  if (Array.isArray(value)) return value.some(hasUnrepresentable);
  return isJsonObject(value) && Object.values(value).some(hasUnrepresentable);
}
