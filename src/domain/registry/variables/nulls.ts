import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { messagesKeyword } from './errors.ts';

/** Handles null in schemas that are derived from `variable` blocks: the tools accept null for almost every value, of any type. Pure. */

/** A keyword of a variable: if it is false, forms do not offer null, although the variable and its parts may be null. */
export const offersNullKeyword = 'x-offers-null';

const notNull: JsonObject = { type: 'null' };

/**
 * The schema of a variable in which each part may be null, as the tools allow.
 * @param isNullable whether the variable as a whole may be null too
 */
export function allowNull(strict: JsonObject, isNullable: boolean): JsonObject {
  const inner = mapParts(strict, allowNullThroughout);
  const schema = isNullable ? allowOwnNull(inner) : refuseOwnNull(inner);
  return isDeepStrictEqual(withoutNull(schema), schema) ? schema : { ...schema, [offersNullKeyword]: false };
}

function allowNullThroughout(schema: JsonObject): JsonObject {
  return allowOwnNull(mapParts(schema, allowNullThroughout));
}

function allowOwnNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  return {
    ...schema,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(values) && { enum: [...values, null] }),
  };
}

/** A schema with a type refuses null already. */
function refuseOwnNull(schema: JsonObject): JsonObject {
  if (schema['type'] !== undefined) return schema;
  const messages = { ...objectOf(schema[messagesKeyword]), not: 'must not be null' };
  return { ...schema, not: notNull, [messagesKeyword]: messages };
}

/** The schema of a variable as earlier releases derived it: no part of a value may be null, unless the part accepts any value. */
export function withoutNull(schema: JsonObject): JsonObject {
  const { [offersNullKeyword]: _, ...strict } = mapParts(schema, withoutNull);
  const { type, enum: values } = strict;
  if (Array.isArray(type)) strict['type'] = unwrap(type.filter((each) => each !== 'null'));
  if (Array.isArray(values)) strict['enum'] = values.filter((value) => value !== null);
  return isDeepStrictEqual(strict['not'], notNull) ? withoutRefusal(strict) : strict;
}

function unwrap(types: JsonValue[]): JsonValue {
  const [only, ...others] = types;
  return only !== undefined && others.length === 0 ? only : types;
}

function withoutRefusal({ not: _, ...schema }: JsonObject): JsonObject {
  const { [messagesKeyword]: messages, ...rest } = schema;
  const { not: _not, ...others } = objectOf(messages);
  return Object.keys(others).length > 0 ? { ...rest, [messagesKeyword]: others } : rest;
}

/** The schema for a form: without the choices of null that it hides from forms. */
export function withoutHiddenNulls(variables: JsonObject): JsonObject {
  const properties = Object.entries(objectOf(variables['properties']));
  const isHidden = (schema: JsonValue): schema is JsonObject =>
    isJsonObject(schema) && schema[offersNullKeyword] === false;
  if (!properties.some(([, schema]) => isHidden(schema))) return variables;
  const shown = properties.map(([name, schema]) => [name, isHidden(schema) ? withoutNull(schema) : schema]);
  return { ...variables, properties: Object.fromEntries(shown) };
}

/** Changes the schemas of the parts of a value: members, items and other values. */
function mapParts(schema: JsonObject, change: (part: JsonObject) => JsonObject): JsonObject {
  const { properties, additionalProperties, items, prefixItems } = schema;
  const changePart = (part: JsonValue) => (isJsonObject(part) ? change(part) : part);
  const members = Object.entries(objectOf(properties)).map(([name, part]) => [name, changePart(part)]);
  return {
    ...schema,
    ...(isJsonObject(properties) && { properties: Object.fromEntries(members) }),
    ...(isJsonObject(additionalProperties) && { additionalProperties: change(additionalProperties) }),
    ...(isJsonObject(items) && { items: change(items) }),
    ...(Array.isArray(prefixItems) && { prefixItems: prefixItems.map(changePart) }),
  };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
