import type { Schema } from '#domain/registry/variables/engine.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { BeyondBudget, type Budget } from '../budget.ts';

const maxReferenceDepth = 50;
const namesOfOne = 20;

/** The schemas that apply to one value. */
interface Chain {
  readonly root: JsonObject;
  readonly budget: Budget;
  /** Schemas that were merged already. Merging one again would add nothing, but references in references multiply at every level. */
  readonly merged: Set<Schema>;
}

/**
 * Combines all schemas that apply to the same value into one: follows `$ref`, and merges `allOf`. Keywords that only restrict the value
 * (`if`, `not`, `dependentRequired` …) stay: the service checks them, and the form does not show them.
 * @throws BeyondBudget
 */
export function resolveSchema(schema: Schema, root: JsonObject, budget: Budget): JsonObject {
  return resolvePart(schema, { root, budget, merged: new Set() }, 0);
}

function resolvePart(schema: Schema, chain: Chain, depth: number): JsonObject {
  if (typeof schema === 'boolean') return {};
  if (depth > maxReferenceDepth) throw new BeyondBudget();
  chain.budget.demand(1);
  chain.merged.add(schema);
  const { $ref: reference, allOf, ...own } = schema;
  const target = typeof reference === 'string' ? findReferenced(chain.root, reference) : undefined;
  const parts = [...(target === undefined ? [] : [target]), ...(Array.isArray(allOf) ? (allOf as Schema[]) : [])];
  let merged: JsonObject = own;
  for (const part of parts)
    if (!chain.merged.has(part)) merged = merge(resolvePart(part, chain, depth + 1), merged, chain.budget);
  return merged;
}

/** Merges the members of both; those of `main` take precedence. Properties and required names are combined. */
function merge(other: JsonObject, main: JsonObject, budget: Budget): JsonObject {
  const merged: JsonObject = { ...other, ...main };
  const [one, two] = [propertiesOf(other), propertiesOf(main)] as [JsonObject, JsonObject];
  const [ones, twos] = [Object.keys(one).length, Object.keys(two).length];
  const required = [...namesIn(main['required']), ...namesIn(other['required'])];
  budget.demand(Math.floor((required.length + (ones > 0 ? ones + twos : 0)) / namesOfOne));
  if (ones > 0 && twos > 0) merged['properties'] = unite(one, two);
  if (required.length > 0) merged['required'] = [...new Set(required)];
  if (other['writeOnly'] === true) merged['writeOnly'] = true;
  return merged;
}

/** The schema of a property that both have: a value must match both. */
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
  return isJsonObject(value as JsonValue | undefined);
}
