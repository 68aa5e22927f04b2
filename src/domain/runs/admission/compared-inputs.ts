import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { variablePhases } from '#domain/variables/model.ts';
import type { EnvironmentInput } from './inputs.ts';

/** Tells secret values from each other: equal values have equal hashes. */
export type SecretHash = (value: JsonValue) => string;

/**
 * Compares secrets of runs by a keyed hash of their values. A secret that was set to the same value again, or that now comes from another
 * source, counts as equal.
 * @param scope the id of what is compared, such as an instance. Hashes of different scopes cannot be compared, so the secrets of different
 * tenants cannot be compared either
 */
export function secretHashOf(keyRing: KeyRing, scope: string): SecretHash {
  return (value) => keyRing.digest(['secret-comparison', scope], canonicalJson(value));
}

/**
 * The form in which two environment variables of a run's tools are compared. Inputs that an earlier release sealed name no phases: the
 * variable applied to all of them.
 */
export function comparableVariable(
  { value, planValue, sensitive, phases = variablePhases }: EnvironmentInput,
  hash: SecretHash,
): JsonValue {
  const compared = (text: string) => (sensitive ? hash(text) : text);
  return {
    value: compared(value),
    plan_value: planValue === undefined ? null : compared(planValue),
    sensitive,
    phases: [...phases].sort(),
  };
}
