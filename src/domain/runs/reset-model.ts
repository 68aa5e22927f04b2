import type { JsonValue } from '#domain/shared/values/json.ts';

/** Why a variable that a run does not name has another value than in the deployment. */
export const resetCauses = ['default', 'environment', 'not_set', 'not_declared'] as const;
export type ResetCause = (typeof resetCauses)[number];

/** A value that a run shows. Long values are left out. */
export type ResetValue = { readonly value: JsonValue } | { readonly sensitive: true } | { readonly truncated: true };

/** A variable of the deployment that a run does not name, and that gets another value. */
export interface VariableReset {
  readonly variable: string;
  readonly cause: ResetCause;
  readonly before: ResetValue;
  /** Null: the variable has no value. */
  readonly after: ResetValue | null;
}
