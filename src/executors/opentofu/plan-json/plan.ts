import type { ResourceChange } from '#domain/runs/plans/model.ts';
import type { ConfiguredReferences } from '#domain/runs/plans/perpetual-differences.ts';
import type { PlanSections } from '#domain/runs/plans/sections.ts';
import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import { hasMark } from '../../redaction/masking.ts';
import type { SecretDigest } from '../../redaction/secret-digest.ts';
import { AttemptFailure, messageOf } from '../../shared/errors.ts';
import { asArray, isObject, type JsonObject, parseJson } from '../../shared/json.ts';
import { ephemeralOf } from '../ephemeral.ts';
import { readReferences } from './configured-references.ts';
import { addressOf, changeOf, learnSecrets, nameAddresses, readChange } from './plan-change.ts';
import { learnSectionSecrets, readSections } from './plan-sections.ts';

/** Outputs by name. */
export type DeclaredOutputs = Readonly<Record<string, { readonly sensitive: boolean }>>;

export interface ReadPlan {
  readonly changes: ResourceChange[];
  readonly drift: ResourceChange[];
  /** The references of the changed resources, at places where the plan does not know the values. */
  readonly references: ConfiguredReferences;
  /** All sections except the warnings, which the tool prints. */
  readonly sections: Omit<PlanSections, 'diagnostics'>;
  /** The outputs that the configuration declares, and whether they are secret. */
  readonly declared: DeclaredOutputs;
  /** The names of the variables whose values the plan does not keep. */
  readonly ephemeral: readonly string[];
  /** Whether applying the plan would change anything: resources, outputs, addresses or the state. */
  readonly hasChanges: boolean;
}

export interface PlanReading {
  readonly redactor: Redactor;
  /** Tells apart secret values; null if that is not needed. */
  readonly digest?: SecretDigest | null;
  /** The outputs that the template declares as secret. */
  readonly secretOutputs?: ReadonlySet<string>;
}

/**
 * Reads the JSON of a plan file. Masks the values that it marks as secret, redacts them from now on, and digests them if requested.
 * @throws AttemptFailure
 */
export function readPlan(json: Buffer, { redactor, digest = null, secretOutputs = new Set() }: PlanReading): ReadPlan {
  const plan = parsePlan(json);
  const resources = asArray(plan['resource_changes']).filter(isObject);
  const drifted = asArray(plan['resource_drift']).filter(isObject);
  for (const resource of [...resources, ...drifted]) learnSecrets(changeOf(resource), redactor);
  learnSectionSecrets(plan, redactor);
  const nameOf = nameAddresses([...resources, ...drifted], redactor);
  const reading = { redactor, nameOf, digest, real: 'before' as const };
  const changes = resources.map((resource) => readChange(resource, reading)).filter(isShown);
  const drift = drifted.map((resource) => readChange(resource, { ...reading, real: 'after' }));
  const declared = declaredOutputs(plan);
  const sections = readSections(plan, { ...reading, secretOutputs, declaredOutputs: new Set(Object.keys(declared)) });
  const changesNothing = [...changes, ...sections.outputs, ...sections.actions].length === 0;
  return {
    changes,
    drift,
    references: referencesOf(plan, resources, nameOf),
    sections,
    declared,
    ephemeral: ephemeralOf(plan),
    hasChanges: plan['applyable'] === true || !changesNothing,
  };
}

function referencesOf(
  plan: JsonObject,
  resources: readonly JsonObject[],
  nameOf: (address: string) => string,
): ConfiguredReferences {
  const unknown = resources.filter((resource) => hasMark(changeOf(resource)['after_unknown']));
  return new Map(
    unknown.map((resource) => [nameOf(addressOf(resource)), readReferences(resource, changeOf(resource), plan)]),
  );
}

/** Whether to show a change. Resources that only move or are only imported have no action, but are shown. */
function isShown({ action, previousAddress, imported }: ResourceChange): boolean {
  return action !== 'no-op' || previousAddress !== undefined || imported !== undefined;
}

function parsePlan(json: Buffer): JsonObject {
  try {
    const plan = parseJson(json);
    if (isObject(plan)) return plan;
  } catch (error) {
    throw new AttemptFailure('plan_invalid', `the plan cannot be read: ${messageOf(error)}`);
  }
  throw new AttemptFailure('plan_invalid', 'the plan cannot be read: it is not a JSON object');
}

function declaredOutputs({ configuration }: JsonObject): DeclaredOutputs {
  const root = isObject(configuration) ? configuration['root_module'] : undefined;
  const outputs = isObject(root) ? root['outputs'] : undefined;
  return Object.fromEntries(
    Object.entries(isObject(outputs) ? outputs : {}).map(([name, output]) => [
      name,
      { sensitive: isObject(output) && output['sensitive'] === true },
    ]),
  );
}
