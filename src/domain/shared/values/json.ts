import { z } from 'zod';
import { Decimal } from './decimal.ts';

/**
 * A JSON value: null, a boolean, a number, a text, or an array or object of such values. A number that JavaScript's own would change is a
 * `Decimal`: it comes from tools and templates alone, never from clients.
 */
export type JsonValue = null | boolean | number | string | Decimal | JsonValue[] | { [name: string]: JsonValue };

/** Whether a value is an object of members. A decimal is a number. */
export function isJsonObject(value: JsonValue | undefined): value is { [name: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Decimal);
}

/**
 * Any JSON value, but not a missing one. What the parser of bodies and the database return is JSON already. The OpenAPI document
 * describes it as `{}`; generators of clients reject the recursive description that `z.json()` would give.
 */
export const Json = z.unknown().refine((value) => value !== undefined, 'is required') as unknown as z.ZodType<
  JsonValue,
  JsonValue
>;
