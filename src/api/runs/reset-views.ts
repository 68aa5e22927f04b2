import { z } from 'zod';
import { type ResetValue, resetCauses, type VariableReset } from '#domain/runs/reset-model.ts';
import { Json } from '#domain/shared/values/json.ts';

/** The variables of the last deployment that a run resets, as the run shows them. */

const ResetValueView = z
  .object({
    value: Json.optional().describe('Left out for a secret, and for a long value.'),
    sensitive: z.boolean(),
    truncated: z.boolean().describe('The value is too long to be shown here again.'),
  })
  .meta({ id: 'ResetValue' });

export const ResetView = z
  .object({
    variable: z.string(),
    cause: z
      .enum(resetCauses)
      .describe(
        'What takes the place of the deployed value: the `default` of the version, a value of the `environment`, nothing (`not_set`), or nothing because the version has no such variable (`not_declared`).',
      ),
    before: ResetValueView,
    after: ResetValueView.nullable().describe('Null: the variable has no value.'),
  })
  .meta({ id: 'VariableReset' });

export function toReset({ variable, cause, before, after }: VariableReset): z.input<typeof ResetView> {
  return { variable, cause, before: toResetValue(before), after: after && toResetValue(after) };
}

function toResetValue(value: ResetValue): z.input<typeof ResetValueView> {
  if ('value' in value) return { value: value.value, sensitive: false, truncated: false };
  return { sensitive: 'sensitive' in value, truncated: 'truncated' in value };
}
