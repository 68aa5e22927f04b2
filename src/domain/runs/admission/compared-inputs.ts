import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { variablePhases } from '#domain/variables/model.ts';
import type { EnvironmentInput } from './inputs.ts';

/** Tells secret values from each other: equal values have equal hashes. */
export type SecretHash = (value: JsonValue) => string;

/**
 * The one way in which secrets of runs are compared: by a keyed hash of their values. So it does not matter whether a secret was set to the same value
 * again, or what gave it.
 * @param scope the id of what is compared, such as an instance. Hashes of different scopes cannot be compared, so nobody compares those of tenants
 */
export function secretHashOf(keyRing: KeyRing, scope: string): SecretHash {
  return (value) => keyRing.digest(['secret-comparison', scope], canonicalJson(value));
}

/**
 * An environment variable of a run's tools as it is compared: equal variables give the tools the same. Inputs that an earlier release sealed name no
 * phases: the variable was given to all.
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
