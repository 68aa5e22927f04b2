import type { JsonObject, Schema } from '#domain/registry/variables/engine.ts';
import { propertiesOf, splitPointer } from '#domain/registry/variables/walk.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';

const mostReferences = 20;

/**
 * One schema instead of several that apply to the same value: follows `$ref`, and merges `allOf`. What says only when a value is
 * right (`if`, `not`, `dependentRequired` …) stays: the service checks it, and the form shows nothing of it.
 */
export function resolveSchema(schema: Schema, root: JsonObject, depth = 0): JsonObject {
  if (typeof schema === 'boolean' || depth > mostReferences) return {};
  const { $ref: reference, allOf, ...own } = schema;
  const parts: JsonObject[] = [];
  const target = typeof reference === 'string' ? findReferenced(root, reference) : undefined;
  if (target !== undefined) parts.push(resolveSchema(target, root, depth + 1));
  for (const part of Array.isArray(allOf) ? allOf : []) parts.push(resolveSchema(part as Schema, root, depth + 1));
  return parts.reduce((merged, part) => merge(part, merged), own);
}

/** The members of both; those of `main` win. Properties and required names are united. */
function merge(other: JsonObject, main: JsonObject): JsonObject {
  const merged: JsonObject = { ...other, ...main };
  const [one, two] = [propertiesOf(other), propertiesOf(main)] as [JsonObject, JsonObject];
  if (Object.keys(one).length > 0 && Object.keys(two).length > 0) merged['properties'] = unite(one, two);
  const required = [...namesIn(main['required']), ...namesIn(other['required'])];
  if (required.length > 0) merged['required'] = [...new Set(required)];
  if (other['writeOnly'] === true) merged['writeOnly'] = true;
  return merged;
}

/** A property that both have must fit both. */
function unite(one: JsonObject, two: JsonObject): JsonObject {
  const both = Object.keys(one).filter((name) => Object.hasOwn(two, name));
  const combined = both.map((name): [string, JsonValue] => [name, { allOf: [two[name] ?? {}, one[name] ?? {}] }]);
  return { ...one, ...two, ...Object.fromEntries(combined) };
}

export function namesIn(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function findReferenced(root: JsonObject, reference: string): Schema | undefined {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let found: JsonValue | undefined = root;
  for (const part of splitPointer(safeDecode(reference.slice(1)))) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string, JsonValue>)[part];
  }
  return typeof found === 'boolean' || isObject(found) ? found : undefined;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
