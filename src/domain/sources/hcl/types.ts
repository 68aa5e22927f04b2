import type { JsonObject } from '#domain/shared/values/json.ts';
import { convertToType } from './conversions.ts';
import { readLiteral, readString, splitItems } from './literals.ts';
import type { HclToken } from './tokens.ts';

/** Translates types of variables, such as `list(object({ name = string }))`, to JSON Schema. */

const maxDepth = 20;

const simple: Readonly<Record<string, JsonObject>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  bool: { type: 'boolean' },
  any: {},
};

type Translate = (item: JsonObject) => JsonObject;

const collections: Readonly<Record<string, Translate>> = {
  list: (items) => ({ type: 'array', items }),
  set: (items) => ({ type: 'array', items, uniqueItems: true }),
  map: (additionalProperties) => ({ type: 'object', additionalProperties }),
};

/** The schema of a type; null if the tools do not know the type. */
export function readType(tokens: readonly HclToken[], depth = 0): JsonObject | null {
  const [name, ...rest] = tokens;
  if (name === undefined || depth > maxDepth) return null;
  const word = name.kind === 'string' ? (readString(name) ?? '') : name.text;
  if (rest.length === 0 && Object.hasOwn(simple, word)) return { ...simple[word] };
  if (rest.length === 0 && (word === 'list' || word === 'map')) return collections[word]?.({}) ?? null;
  const [inner, ...others] = splitItems(rest) ?? [];
  if (inner === undefined || others.length > 0) return null;
  if (word === 'object') return readObject(inner, depth);
  if (word === 'tuple') return readTuple(inner, depth);
  const translate = Object.hasOwn(collections, word) ? collections[word] : undefined;
  const item = translate && readType(inner, depth + 1);
  return translate && item ? translate(item) : null;
}

function readObject(tokens: readonly HclToken[], depth: number): JsonObject | null {
  const properties: [string, JsonObject][] = [];
  const required: string[] = [];
  for (const [name, sign, ...type] of splitItems(tokens) ?? []) {
    const key = name?.kind === 'string' ? readString(name) : name?.text;
    const member = sign?.text === '=' || sign?.text === ':' ? readMember(type, depth) : null;
    if (key === undefined || member === null) return null;
    properties.push([key, member.schema]);
    if (!member.isOptional) required.push(key);
  }
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

/** An optional member may be null, which means the same as leaving it out. */
function readMember(tokens: readonly HclToken[], depth: number): { schema: JsonObject; isOptional: boolean } | null {
  if (tokens[0]?.text !== 'optional') {
    const schema = readType(tokens, depth + 1);
    return schema && { schema, isOptional: false };
  }
  const [type, value] = splitItems(tokens.slice(1)) ?? [];
  const schema = type && readType(type, depth + 1);
  if (!schema) return null;
  const written = value && readLiteral(value);
  const initial = written == null ? written : convertToType(written, schema);
  return { schema: initial == null ? schema : { ...schema, default: initial }, isOptional: true };
}

function readTuple(tokens: readonly HclToken[], depth: number): JsonObject | null {
  const types = (splitItems(tokens) ?? []).map((each) => readType(each, depth + 1));
  if (!types.every((type) => type !== null)) return null;
  return { type: 'array', prefixItems: types, minItems: types.length, maxItems: types.length };
}
