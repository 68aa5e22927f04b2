import type { ResourceChange } from '#domain/runs/plans/model.ts';
import { type ConfiguredReferences, withoutKeys } from '#domain/runs/plans/perpetual-differences.ts';
import type { PlanSections } from '#domain/runs/plans/sections.ts';
import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { hasMark } from '../../redaction/masking.ts';
import type { SecretDigest } from '../../redaction/secret-digest.ts';
import { AttemptFailure } from '../../shared/errors.ts';
import { asArray, isObject, type JsonObject, parseObject } from '../../shared/json.ts';
import { ephemeralOf } from '../ephemeral.ts';
import { addressOf, changeOf, learnSecrets, nameAddresses, readChange } from './plan-change.ts';
import { learnSectionSecrets, readSections } from './plan-sections.ts';

/** Outputs by name. */
type DeclaredOutputs = Readonly<Record<string, { readonly sensitive: boolean }>>;

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

interface PlanReading {
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
  const refuse = (why: string) => new AttemptFailure('plan_invalid', `the plan cannot be read: ${why}`);
  return parseObject(json, refuse, 'it is not a JSON object');
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

/**
 * The resources to which the configuration of a planned resource refers, at places where the plan does not know the values. Null if it may
 * refer to anything, because the plan does not say what locals, modules and data sources refer to.
 */
function readReferences(resource: JsonObject, change: JsonObject, plan: JsonObject): string[] | null {
  if (resource['action_reason'] === 'replace_by_triggers') return null;
  const { module_address: address, mode, type, name } = resource;
  const module = typeof address === 'string' ? withoutKeys(address) : '';
  const configured = asArray(moduleOf(plan, module)?.['resources'])
    .filter(isObject)
    .find((each) => each['mode'] === mode && each['type'] === type && each['name'] === name);
  const expressions = configured?.['expressions'];
  if (!configured) return null;
  const unknown = isObject(change['after_unknown']) ? Object.keys(change['after_unknown']) : [];
  const texts = unknown.flatMap((attribute) => (isObject(expressions) ? textsIn(expressions[attribute]) : []));
  const resources = texts.map((text) => resourceIn(text, module));
  return resources.includes(null)
    ? null
    : ([...new Set(resources.filter((each) => each !== null && each !== ''))] as string[]);
}

/** The configuration of a module by its address without keys, such as `module.a.module.b`. */
function moduleOf({ configuration }: JsonObject, address: string): JsonObject | undefined {
  let module = isObject(configuration) ? configuration['root_module'] : undefined;
  for (const name of address.split('.').filter((_, index) => index % 2 === 1)) {
    const calls = isObject(module) ? module['module_calls'] : undefined;
    const call = isObject(calls) ? calls[name] : undefined;
    module = isObject(call) ? call['module'] : undefined;
  }
  return isObject(module) ? module : undefined;
}

/** The references of an expression, or of all expressions in a block. */
function textsIn(expression: JsonValue | undefined): string[] {
  if (Array.isArray(expression)) return expression.flatMap(textsIn);
  if (!isObject(expression)) return [];
  const { references, constant_value: _, ...others } = expression;
  const named = asArray(references).filter((each) => typeof each === 'string');
  return [...named, ...Object.values(others).flatMap(textsIn)];
}

/** The references whose values are known before a plan is made. */
const known = new Set(['count', 'path', 'terraform', 'tofu']);

/** The address of the resource that a reference names. Empty if its value is known; null if its dependencies are unknown. */
function resourceIn(reference: string, module: string): string | null {
  const [first = '', second] = reference.split(/[.[]/);
  if (known.has(first) || (first === 'var' && module === '') || reference.startsWith('each.key')) return '';
  if (['var', 'local', 'module', 'data', 'each', 'self', 'ephemeral'].includes(first) || second === undefined)
    return null;
  return `${module === '' ? '' : `${module}.`}${first}.${second}`;
}
