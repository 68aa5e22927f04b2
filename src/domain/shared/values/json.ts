import { z } from 'zod';

/** A JSON value: null, a boolean, a number, a text, or an array or object of such values. */
export type JsonValue = z.core.util.JSONType;

/**
 * Any JSON value, but not a missing one. What the parser of bodies and the database return is JSON already. The OpenAPI document
 * describes it as `{}`; generators of clients reject the recursive description that `z.json()` would give.
 */
export const Json = z.unknown().refine((value) => value !== undefined, 'is required') as unknown as z.ZodType<
  JsonValue,
  JsonValue
>;
