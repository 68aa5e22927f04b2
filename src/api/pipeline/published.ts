import type { z } from 'zod';

/**
 * The schemas that the OpenAPI document shows in place of others. A body with several kinds is checked in two steps, by a general schema
 * and then by that of its kind, so that errors name the wrong member of the kind. Clients need the exact form of each kind.
 */
const published = new WeakMap<z.ZodType, z.ZodType>();

/** Lets the OpenAPI document show `described` in place of `schema`. `described` must accept every body that the service accepts. */
export function publishAs<Schema extends z.ZodType>(schema: Schema, described: z.ZodType): Schema {
  published.set(schema, described);
  return schema;
}

/** The schema that describes a schema: itself unless `publishAs` named another. */
export function publishedOf(schema: z.ZodType): z.ZodType {
  return published.get(schema) ?? schema;
}
