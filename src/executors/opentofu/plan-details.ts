import { isDeepStrictEqual } from 'node:util';
import { mostPaths, type ResourceChange, type ValuePath } from '#domain/runs/plans/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { hasMark } from '../redaction/masking.ts';
import type { Redactor } from '../redaction/redaction.ts';
import type { SecretDigest } from '../redaction/secret-digest.ts';
import { asArray, isObject, type JsonObject } from '../shared/json.ts';

/** What a plan says about the change of a resource besides its values. */

type Details = Pick<
  ResourceChange,
  'previousAddress' | 'imported' | 'actionReason' | 'replacePaths' | 'unknownPaths' | 'sensitivePaths'
>;

/** How the details of a change are read. */
export interface DetailsReading {
  readonly redactor: Redactor;
  /** Tells secret values from each other; null: nobody asks. */
  readonly digest: SecretDigest | null;
  /** The side that has what is there: a drift leads to it, and a plan begins with it. */
  readonly real: 'before' | 'after';
}

const longestId = 4096;

/** Reads a member of `resource_changes`, with its `change`. Names and ids are redacted as values are. */
export function readDetails(
  resource: JsonObject,
  change: JsonObject,
  { redactor, digest, real }: DetailsReading,
): Details {
  const { previous_address: previous, action_reason: reason } = resource;
  const { importing, replace_paths: replaced } = change;
  const redact = (path: ValuePath) => path.map((part) => (typeof part === 'string' ? redactor.redactText(part) : part));
  return {
    ...(typeof previous === 'string' && { previousAddress: redactor.redactText(previous) }),
    ...(isObject(importing) && { imported: { id: readId(importing['id'], redactor) } }),
    ...(isReason(reason) && { actionReason: reason }),
    replacePaths: asArray(replaced).slice(0, mostPaths).map(toPath).map(redact),
    unknownPaths: firstPaths([change['after_unknown']]).map(redact),
    sensitivePaths: findSensitive(change).map(({ path, changed }) => ({
      path: redact(path),
      changed,
      ...(digest && { digest: digest(valueAt(change[real] ?? null, path)) }),
    })),
  };
}

/** The id is not a text if it is known only after the apply. */
function readId(id: JsonValue | undefined, redactor: Redactor): string | null {
  return typeof id === 'string' ? redactor.redactText(id).slice(0, longestId) : null;
}

/** The tool chooses reasons from a list of its own, which newer versions extend. */
function isReason(reason: JsonValue | undefined): reason is string {
  return typeof reason === 'string' && /^[a-z_]{1,100}$/.test(reason);
}

function toPath(parts: JsonValue): ValuePath {
  return asArray(parts).filter((part) => typeof part === 'string' || typeof part === 'number');
}

/** The secret values of a change, on either side. A value that is not known yet may be another one. */
function findSensitive(change: JsonObject): { path: ValuePath; changed: boolean }[] {
  const { before = null, after = null, after_unknown: unknown } = change;
  return firstPaths([change['before_sensitive'], change['after_sensitive']]).map((path) => ({
    path,
    changed: hasMarkAt(unknown, path) || !isDeepStrictEqual(valueAt(before, path), valueAt(after, path)),
  }));
}

/** The first of the paths that the marks name, each once. */
function firstPaths(marks: readonly (JsonValue | undefined)[]): ValuePath[] {
  const found = new Map<string, ValuePath>();
  for (const each of marks) {
    for (const path of pathsOf(each)) {
      if (found.size >= mostPaths) break;
      found.set(JSON.stringify(path), path);
    }
  }
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
