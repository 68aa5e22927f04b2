import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { isObject } from '#executors/shared/json.ts';

/** What became of a configuration that was planned, applied, planned again and destroyed, by hand or by the service. */

/** Where it failed; `done` if nothing failed. The service reports an `init` that fails as a plan that fails. */
export type Stage = 'publish' | 'plan' | 'apply' | 'destroy' | 'done';

export interface Lifecycle {
  readonly stage: Stage;
  /** The summary of the first error; null if there was none. */
  readonly error: string | null;
  /** All that the service's publication refused; nothing by hand. */
  readonly refusals?: readonly string[];
  /** The plan with `resource_changes` as the tool's own JSON has them. */
  readonly plan: JsonValue;
  /** By name: value and whether it is sensitive. */
  readonly outputs: JsonValue;
  readonly state: JsonValue;
  /** Whether the second plan changes nothing. */
  readonly isSettled: boolean | null;
}

/** The parts of a state that must be the same. Serial and lineage identify it, and the tool's version stands in the list of outcomes. */
export function stateOf(state: JsonValue): JsonValue {
  const { resources = [], outputs = {}, check_results: checks = null } = objectOf(state);
  return { resources: listOf(resources).map(sortMarks), outputs, checks: checks && sortChecks(checks) };
}

/** The tools write checks and what they checked, and which attributes are sensitive, in an order of chance. */
function sortChecks(checks: JsonValue): JsonValue[] {
  return sortTexts(
    listOf(checks).map((check) => ({ ...objectOf(check), objects: sortTexts(listOf(objectOf(check)['objects'])) })),
  );
}

function sortMarks(resource: JsonValue): JsonValue {
  const instances = listOf(objectOf(resource)['instances']).map(objectOf);
  const sorted = instances.map((instance) => {
    const marks = listOf(instance['sensitive_attributes']);
    return {
      ...instance,
      sensitive_attributes: sortTexts(marks),
    };
  });
  return { ...objectOf(resource), instances: sorted };
}

export function objectOf(value: JsonValue | undefined): { readonly [name: string]: JsonValue } {
  return isObject(value) ? value : {};
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function sortTexts(values: readonly JsonValue[]): JsonValue[] {
  return [...values].sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
}
