import type { Schema } from '#domain/registry/variables/engine.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import type { Budget } from '../budget.ts';
import { resolveSchema } from './resolve.ts';

const maxShapes = 20;
const maxNamed = 10;

/** Keywords with which a branch defines the shape of its value, rather than restricting it. */
const shaping = [
  'type',
  'properties',
  'items',
  'prefixItems',
  'enum',
  'const',
  'oneOf',
  'anyOf',
  'additionalProperties',
];

const typeNames: Readonly<Record<string, string>> = {
  string: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  object: 'Object',
  array: 'List',
  null: 'Nothing (null)',
};

/** The shapes that a value may have: the branches of `oneOf` or `anyOf`, or several types. Null if it has only one. @throws BeyondBudget */
export function findShapes(schema: JsonObject, root: JsonObject, budget: Budget): JsonObject[] | null {
  const { oneOf, anyOf, type, ...rest } = schema;
  const shared = withoutTexts(rest);
  const branches = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : null;
  if (branches) {
    if (branches.length > maxShapes) return null;
    const resolved = branches.map((branch) => resolveSchema(branch as Schema, root, budget));
    if (!resolved.some((branch) => shaping.some((keyword) => branch[keyword] !== undefined))) return null;
    const common: JsonObject = type === undefined ? shared : { ...shared, type };
    return resolved.map((branch, index) => titled({ allOf: [branch, common] }, branch, index));
  }
  if (!Array.isArray(type) || type.length < 2) return null;
  return type.map((each) => ({ ...shared, type: each, title: typeNames[String(each)] ?? String(each) }));
}

function titled(shape: JsonObject, branch: JsonObject, index: number): JsonObject {
  const { title, description } = branch;
  return {
    ...shape,
    title: typeof title === 'string' && title !== '' ? title : describeShape(branch, index),
    ...(typeof description === 'string' && { description }),
  };
}

/** The name of a shape without a title: a constant that only this shape has, or else its type. */
function describeShape(branch: JsonObject, index: number): string {
  const properties = Object.entries((branch['properties'] ?? {}) as Record<string, JsonValue>);
  for (const [name, property] of properties) {
    const fixed = isJsonObject(property) && property['const'];
    if (typeof fixed === 'string') return `${name}: ${fixed}`;
  }
  const type = String(branch['type'] ?? '');
  const required = Array.isArray(branch['required']) ? branch['required'].slice(0, maxNamed).join(', ') : '';
  if (type === 'object' && required) return `With ${required}`;
  return typeNames[type] ?? `Shape ${index + 1}`;
}

/** The schema without its texts, which are shown once for the whole value, not for every shape. */
function withoutTexts(schema: JsonObject): JsonObject {
  const { title: _title, description: _description, default: _default, examples: _examples, ...rest } = schema;
  return rest;
}
