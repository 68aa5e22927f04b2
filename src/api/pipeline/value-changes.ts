import { z } from 'zod';
import type { ValueChange } from '#domain/shared/values/comparison/value-changes.ts';
import { Json } from '#domain/shared/values/json.ts';

const Side = Json.optional().describe(
  'Any JSON value; left out if this side does not have it. A secret value is `{"sensitive": true}`, and one that only the apply will know is ' +
    '`{"unknown": true}`.',
);

/** A value that differs between an earlier and a later one. */
export const ValueChangeView = z
  .object({
    path: z
      .array(z.union([z.string(), z.int()]))
      .describe(
        'Names of members and positions of items: in the later value, or in the earlier one if only that has the item.',
      ),
    label: z.string().describe('The path as people read it, such as `rules[name="web"].port`.'),
    kind: z.enum(['added', 'removed', 'changed']),
    before: Side,
    after: Side,
    sensitive: z.boolean().describe('One of the sides is secret.'),
    unknown: z.boolean().describe('Only the apply will know the later value.'),
    truncated: z.boolean().describe('The sides are texts, cut around the place where they begin to differ.'),
    note: z.string().nullable().describe('What differs if it is not the value, such as the order of a list.'),
  })
  .meta({ id: 'ValueChange' });

export function viewValueChange({ path, note, ...change }: ValueChange): z.input<typeof ValueChangeView> {
  return { ...change, path: [...path], note: note ?? null };
}
