import { z } from 'zod';
import { Decimal } from './decimal.ts';

/**
 * A JSON value: null, a boolean, a number, a text, or an array or object of such values. A number that a JavaScript number would change is
 * a `Decimal`. Such numbers come only from tools and templates, never from clients.
 */
export type JsonValue = null | boolean | number | string | Decimal | JsonValue[] | JsonObject;

export type JsonObject = { [name: string]: JsonValue };

/** Whether a value is a JSON object. A decimal is not. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
}

/** A map from names to values of a schema. It keeps the name `__proto__`, which `z.record` drops. The values are not transformed. */
export function namedValues<Value>(values: z.ZodType<Value>) {
  const { $schema: _, ...additionalProperties } = z.toJSONSchema(values, { unrepresentable: 'any' });
  return z
    .custom<Record<string, Value>>((map) => isMapOf(map, values), 'expected names and values')
    .meta({ type: 'object', additionalProperties });
}

function isMapOf(map: unknown, values: z.ZodType): boolean {
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return false;
  return Object.values(map).every((value) => values.safeParse(value).success);
}

/**
 * Any JSON value, but not a missing one. It checks nothing else, because the parser of bodies and the database return only JSON. The
 * OpenAPI document describes it as `{}`; generators of clients reject the recursive description that `z.json()` would give.
 */
export const Json = z.unknown().refine((value) => value !== undefined, 'is required') as unknown as z.ZodType<
  JsonValue,
  JsonValue
>;
