import type { z } from 'zod';

/**
 * What the OpenAPI document says of a body that is checked in two steps: first in general, then by a member that it names, such as the
 * kind. Clients need the exact form of each kind, while the two checks say which member of which kind is wrong.
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
