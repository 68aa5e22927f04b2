import { deposedSuffix } from '#domain/instances/state-file/addresses.ts';
import {
  type ChangeAction,
  type PlanSummary,
  type ResourceChange,
  summarizeChanges,
} from '#domain/runs/plans/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { collectMarked, maskMarked, sensitiveMark, shownValue, unknownMark } from '../redaction/masking.ts';
import type { Redactor } from '../redaction/redaction.ts';
import type { SecretDigest } from '../redaction/secret-digest.ts';
import { AttemptFailure, messageOf } from '../shared/errors.ts';
import { asArray, isObject, type JsonObject, parseJson } from '../shared/json.ts';
import { ephemeralOf } from './ephemeral.ts';
import { type DetailsReading, readDetails } from './plan-details.ts';

/** Outputs by name. */
export type DeclaredOutputs = Readonly<Record<string, { readonly sensitive: boolean }>>;

export interface ReadPlan {
  readonly changes: ResourceChange[];
  readonly drift: ResourceChange[];
  readonly summary: PlanSummary;
  /** The outputs that the configuration declares, and whether they are secret. */
  readonly declared: DeclaredOutputs;
  /** The names of the variables whose values the plan does not keep. */
  readonly ephemeral: readonly string[];
  /** Whether applying the plan would change anything: resources, outputs, addresses or the state. */
  readonly hasChanges: boolean;
}

/** Reads the JSON of a plan file. Learns and masks the values that it marks as secret, and digests them if asked. @throws AttemptFailure */
export function readPlan(json: Buffer, redactor: Redactor, digest: SecretDigest | null = null): ReadPlan {
  const plan = parsePlan(json);
  const resources = asArray(plan['resource_changes']).filter(isObject);
  const drifted = asArray(plan['resource_drift']).filter(isObject);
  const outputs = outputChanges(plan['output_changes']);
  for (const { change } of [...resources, ...drifted, ...outputs]) learnSecrets(change, redactor);
  const planned = resources.map((resource) => readChange(resource, { redactor, digest, real: 'before' }));
  const changes = planned.filter(isShown);
  const drift = drifted.map((resource) => readChange(resource, { redactor, digest, real: 'after' }));
  const hasChanges = plan['applyable'] === true || resources.some(changesSomething) || outputs.some(changesSomething);
  return {
    changes,
    drift,
    summary: summarizeChanges(changes),
    declared: declaredOutputs(plan),
    ephemeral: ephemeralOf(plan),
    hasChanges,
  };
}

/** Resources that only change their address or only come into the state have no action. */
function isShown({ action, previousAddress, imported }: ResourceChange): boolean {
  return action !== 'no-op' || previousAddress !== undefined || imported !== undefined;
}

/** Whether a change has an action other than `no-op`, gives a new address, or imports something into the state. */
function changesSomething({ change, previous_address: before }: JsonObject): boolean {
  const { actions, importing = null } = isObject(change) ? change : {};
  return before !== undefined || importing !== null || asArray(actions).some((action) => action !== 'no-op');
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

function outputChanges(outputs: JsonValue | undefined): JsonObject[] {
  return Object.values(isObject(outputs) ? outputs : {}).map((change) => ({ change }));
}

function learnSecrets(change: JsonValue | undefined, redactor: Redactor): void {
  if (!isObject(change)) return;
  for (const side of ['before', 'after'] as const) {
    for (const secret of collectMarked(change[side], change[`${side}_sensitive`])) redactor.learn(secret);
  }
}

function readChange(resource: JsonObject, reading: DetailsReading): ResourceChange {
  const { redactor } = reading;
  const change = isObject(resource['change']) ? resource['change'] : {};
  const { before = null, after = null, after_unknown, before_sensitive, after_sensitive } = change;
  const known = maskMarked(after, after_unknown, unknownMark);
  return {
    address: redactor.redactText(addressOf(resource)),
    type: redactor.redactText(String(resource['type'] ?? '')),
    action: readAction(asArray(change['actions'])),
    before: shownValue(maskMarked(before, before === null ? false : before_sensitive, sensitiveMark), redactor),
    after: shownValue(maskMarked(known, known === null ? false : after_sensitive, sensitiveMark), redactor),
    ...readDetails(resource, change, reading),
  };
}

/** The tool names the object that waits to be destroyed, and the one that has replaced it, by the same address. */
function addressOf({ address = '', deposed }: JsonObject): string {
  return typeof deposed === 'string' && deposed !== '' ? `${address}${deposedSuffix(deposed)}` : String(address);
}

/**
 * OpenTofu writes a replacement as two actions in either order. It may forget the old resource instead of deleting it, which is
 * shown as a replacement too.
 */
function readAction(actions: JsonValue[]): ChangeAction {
  const names: Record<string, ChangeAction> = {
    create: 'create',
    update: 'update',
    delete: 'delete',
    read: 'read',
    'no-op': 'no-op',
    forget: 'forget',
  };
  if (actions.includes('delete') && actions.includes('create')) return 'replace';
  if (actions.includes('forget') && actions.includes('create')) return 'replace';
  const action = names[String(actions[0])];
  if (action === undefined)
    throw new AttemptFailure('plan_invalid', `the plan has an unknown action "${actions.join(', ')}"`);
  return action;
}
