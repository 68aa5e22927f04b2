import { isDeepStrictEqual } from 'node:util';
import { maxPaths, type ResourceChange, type ValuePath } from '#domain/runs/plans/model.ts';
import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import { secretPaths } from '#domain/shared/redaction/secret-paths.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { hasMark } from '../../redaction/masking.ts';
import type { SecretDigest } from '../../redaction/secret-digest.ts';
import { asArray, isObject, type JsonObject } from '../../shared/json.ts';

/** The facts in a plan about a change of a resource, besides its values. */

type Details = Pick<
  ResourceChange,
  'previousAddress' | 'imported' | 'actionReason' | 'replacePaths' | 'unknownPaths' | 'sensitivePaths' | 'otherSecrets'
>;

/** How the details of a change are read. */
export interface DetailsReading {
  readonly redactor: Redactor;
  /** Returns the address of a resource as it is shown. */
  readonly nameOf: (address: string) => string;
  /** Tells apart secret values; null if that is not needed. */
  readonly digest: SecretDigest | null;
  /** The side with the real value: a drift ends there, and a planned change begins there. */
  readonly real: 'before' | 'after';
}

const maxIdLength = 4096;

/** Reads a member of `resource_changes`, with its `change`. Names and ids are redacted as values are. */
export function readDetails(
  resource: JsonObject,
  change: JsonObject,
  { redactor, nameOf, digest, real }: DetailsReading,
): Details {
  const { previous_address: previous, action_reason: reason } = resource;
  const { importing, replace_paths: replaced } = change;
  const redact = (path: ValuePath) => path.map((part) => (typeof part === 'string' ? redactor.redactText(part) : part));
  return {
    ...(typeof previous === 'string' && { previousAddress: nameOf(previous) }),
    ...(isObject(importing) && { imported: { id: readId(importing['id'], redactor) } }),
    ...(isReason(reason) && { actionReason: reason }),
    replacePaths: asArray(replaced).slice(0, maxPaths).map(toPath).map(redact),
    unknownPaths: distinctPaths([change['after_unknown']]).slice(0, maxPaths).map(redact),
    ...readSecrets(change, { redactor, redact, digest, real }),
  };
}

/** The id; null if it is not a string, because it is known only after the apply. */
function readId(id: JsonValue | undefined, redactor: Redactor): string | null {
  return typeof id === 'string' ? redactor.redactText(id).slice(0, maxIdLength) : null;
}

/** The tool chooses reasons from a list of its own, which newer versions extend. */
function isReason(reason: JsonValue | undefined): reason is string {
  return typeof reason === 'string' && /^[a-z_]{1,100}$/.test(reason);
}

function toPath(parts: JsonValue): ValuePath {
  return asArray(parts).filter((part) => typeof part === 'string' || typeof part === 'number');
}

interface SecretsReading extends Pick<DetailsReading, 'redactor' | 'digest' | 'real'> {
  readonly redact: (path: ValuePath) => ValuePath;
}

/** The secret values on either side of a change: the first ones one by one, and the others together. */
function readSecrets(
  change: JsonObject,
  { redactor, redact, digest, real }: SecretsReading,
): Pick<ResourceChange, 'sensitivePaths' | 'otherSecrets'> {
  const { before = null, after = null, after_unknown: unknown } = change;
  const marked = distinctPaths([change['before_sensitive'], change['after_sensitive']]);
  const paths = [...marked, ...knownPaths(change, marked, redactor)];
  const digestAt = (path: ValuePath) => digest?.(valueAt(change[real] ?? null, path));
  const isUnknown = (path: ValuePath) => hasMarkAt(unknown, path);
  const differs = (path: ValuePath) => !isDeepStrictEqual(valueAt(before, path), valueAt(after, path));
  const listed = paths.slice(0, maxPaths).map((path) => ({
    path: redact(path),
    // A value that is not known yet may have changed.
    changed: isUnknown(path) || differs(path),
    ...(digest && { digest: digestAt(path) }),
  }));
  const others = paths.slice(maxPaths);
  if (others.length === 0) return { sensitivePaths: listed };
  // For a scan, a value that only an apply would know counts as unchanged (`scannedChanges`).
  const changed = others.some((path) => (isUnknown(path) ? digest === null : differs(path)));
  const together = digest && { digest: digest(others.map((path) => [...path, digestAt(path) ?? ''])) };
  return { sensitivePaths: listed, otherSecrets: { changed, ...together } };
}

/**
 * The places of known secrets, in a resource that changes, that have no mark. An example is the secret of an earlier run on one side and
 * that of this run on the other. Both are masked, so only this list shows whether they differ.
 */
function knownPaths(change: JsonObject, marked: readonly ValuePath[], redactor: Redactor): ValuePath[] {
  const { actions, before = null, after = null } = change;
  if (asArray(actions).every((action) => action === 'no-op' || action === 'read')) return [];
  const marks = new Set(marked.map((path) => JSON.stringify(path)));
  const isMarked = (path: ValuePath) =>
    [...path, ''].some((_, length) => marks.has(JSON.stringify(path.slice(0, length))));
  const found = new Map<string, ValuePath>();
  for (const side of [before, after])
    for (const path of secretPaths(side, redactor)) found.set(JSON.stringify(path), path);
  return [...found.values()].filter((path) => !isMarked(path));
}

/** The paths of the marks, without duplicates. */
function distinctPaths(marks: readonly (JsonValue | undefined)[]): ValuePath[] {
  const found = new Map<string, ValuePath>();
  for (const each of marks) for (const path of pathsOf(each)) found.set(JSON.stringify(path), path);
  return [...found.values()];
}

/** Marks have the shape of the value, with `true` at the marked places. */
function* pathsOf(marks: JsonValue | undefined, path: ValuePath = []): Generator<ValuePath> {
  if (marks === true) yield path;
  else if (Array.isArray(marks)) for (const [index, mark] of marks.entries()) yield* pathsOf(mark, [...path, index]);
  else if (isObject(marks)) for (const [name, mark] of Object.entries(marks)) yield* pathsOf(mark, [...path, name]);
}

function hasMarkAt(marks: JsonValue | undefined, path: ValuePath): boolean {
  let mark = marks;
  for (const part of path) {
    if (mark === true) return true;
    mark = memberOf(mark, part);
  }
  return hasMark(mark);
}

function valueAt(value: JsonValue, path: ValuePath): JsonValue {
  let found: JsonValue | undefined = value;
  for (const part of path) found = memberOf(found, part);
  return found ?? null;
}

function memberOf(value: JsonValue | undefined, part: string | number): JsonValue | undefined {
  if (Array.isArray(value)) return value[Number(part)];
  return isObject(value) && Object.hasOwn(value, String(part)) ? value[String(part)] : undefined;
}
