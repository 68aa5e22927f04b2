import type { JsonObject } from '#domain/shared/values/json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { readNumber } from './literals.ts';

/** Converts values to the types of their variables, as the tools do. Pure. */

/**
 * Converts a value to the type that a schema from `readType` describes. Undefined if the value does not fit the type, or if only the tool
 * knows the result.
 */
export function convertToType(value: JsonValue, schema: JsonObject): JsonValue | undefined {
  const type = schema['type'];
  if (type === undefined) return value;
  if (type === 'string') return toText(value);
  if (type === 'number') return typeof value === 'string' ? readNumber(value) : isOf('number', value);
  if (type === 'boolean') return value === 'true' || value === 'false' ? value === 'true' : isOf('boolean', value);
  return type === 'array' ? convertItems(value, schema) : convertMembers(value, schema);
}

function isOf(type: 'number' | 'boolean', value: JsonValue): JsonValue | undefined {
  return typeof value === type ? value : undefined;
}

/** Undefined for a number that JavaScript writes with an exponent, because the tools write none. */
function toText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
  return typeof value === 'number' && text?.includes('e') ? undefined : text;
}

function convertItems(value: JsonValue, schema: JsonObject): JsonValue[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const types = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : null;
  if (types && types.length !== value.length) return undefined;
  const items = value.map((item, index) => convertToType(item, objectOf(types ? types[index] : schema['items'])));
  if (!items.every((item) => item !== undefined)) return undefined;
  const isSet = schema['uniqueItems'] === true;
  return isSet && new Set(items.map((item) => JSON.stringify(item))).size < items.length ? undefined : items;
}

function convertMembers(value: JsonValue, schema: JsonObject): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const types = objectOf(schema['properties']);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  if (!required.every((name) => Object.hasOwn(value, String(name)))) return undefined;
  const members: [string, JsonValue][] = [];
  for (const [name, member] of Object.entries(value)) {
    const isMember = Object.hasOwn(types, name);
    // A missing optional member means null.
    if (member === null && isMember && !required.includes(name)) continue;
    const converted = convertToType(member, objectOf(isMember ? types[name] : schema['additionalProperties']));
    if (converted === undefined) return undefined;
    members.push([name, converted]);
  }
  return Object.fromEntries(members);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
