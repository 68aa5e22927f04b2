import { z } from 'zod';

/** A time: RFC 3339, UTC. Entities hold dates; rows of plain SQL hold PostgreSQL's own text of them. */
export const Time = z.codec(z.iso.datetime(), z.union([z.date(), z.string()]), {
  decode: (text) => new Date(text),
  encode: (time) => new Date(time).toISOString(),
});

/** The answer of what leaves nothing to show. */
export const Nothing = z.undefined().describe('Done; the answer has no body.');

/** What the caller may do with one resource now (`Action` in the domain), by the names that the resource has for it. */
export function actionsView<const Names extends readonly string[]>(names: Names) {
  const action = z.object({ name: z.enum(names), allowed: z.boolean(), reason: z.string().nullable() });
  return z
    .array(action)
    .describe(
      'What you may do with it now, by your authority and its state together, decided as the operation itself decides; the ' +
        'operation decides again. `reason` is the sentence with which the operation would refuse, and null where it is allowed.',
    );
}

/** A list's page (api.md of the design, *Conventions*). */
export function pageOf<Name extends string, S extends z.ZodType>(name: Name, item: S) {
  return z.object({ [name]: z.array(item), next_cursor: z.string().nullable() } as {
    [K in Name]: z.ZodArray<S>;
  } & { next_cursor: z.ZodNullable<z.ZodString> });
}
