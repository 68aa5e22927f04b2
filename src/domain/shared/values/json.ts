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

type DecimalPath = readonly (string | number)[];

/** The decimals in a value, with their paths. */
export function* decimalsIn(
  value: JsonValue,
  path: DecimalPath = [],
): Generator<{ path: DecimalPath; decimal: Decimal }> {
  if (value instanceof Decimal) yield { path, decimal: value };
  else if (Array.isArray(value)) for (const [index, each] of value.entries()) yield* decimalsIn(each, [...path, index]);
  else if (isJsonObject(value))
    for (const [name, member] of Object.entries(value)) yield* decimalsIn(member, [...path, name]);
}

export function hasDecimal(value: JsonValue): boolean {
  return !decimalsIn(value).next().done;
}

/** Returns a copy of the value in which each decimal is replaced. Parts without decimals are shared with the original. */
export function replaceDecimals(value: JsonValue, replace: (decimal: Decimal) => JsonValue): JsonValue {
  if (value instanceof Decimal) return replace(value);
  if (Array.isArray(value)) return value.map((each) => replaceDecimals(each, replace));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceDecimals(member, replace)]));
}

/** Returns the value with the decimals of the original at their places. */
export function restoreDecimals(value: JsonValue, original: JsonValue | undefined): JsonValue {
  if (original instanceof Decimal) return original;
  if (Array.isArray(value))
    return value.map((each, index) => restoreDecimals(each, Array.isArray(original) ? original[index] : undefined));
  if (!isJsonObject(value)) return value;
  const member = (name: string) =>
    isJsonObject(original) && Object.hasOwn(original, name) ? original[name] : undefined;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, restoreDecimals(each, member(name))]));
}
