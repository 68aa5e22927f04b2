import {
  type CheckKind,
  type CheckStatus,
  checkStatuses,
  type DeferredChange,
  maxProblemLength,
  maxProblems,
  type PlanCheck,
  type PlannedAction,
  type PlannedOutput,
  type PlanSections,
} from '#domain/runs/plans/sections.ts';
import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import { secretPaths } from '#domain/shared/redaction/secret-paths.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { cutText } from '#domain/shared/values/text.ts';
import { hasMark, maskMarked, maskNames, sensitiveMark, shownValue, unknownMark } from '../../redaction/masking.ts';
import { asArray, isObject, type JsonObject } from '../../shared/json.ts';
import { changeOf, learnSecrets, readAction, readChange, readSides } from './plan-change.ts';
import type { DetailsReading } from './plan-details.ts';

/** Reads the sections of a plan's JSON besides its changes of resources. Warnings are missing in it, because the tool prints them. */

export interface SectionsReading extends DetailsReading {
  /** The outputs that the template declares as secret, whatever its configuration says. */
  readonly secretOutputs: ReadonlySet<string>;
  /** The outputs that the configuration declares. */
  readonly declaredOutputs: ReadonlySet<string>;
}

/** Redacts from now on the secrets of outputs, actions and deferred changes. */
export function learnSectionSecrets(plan: JsonObject, redactor: Redactor): void {
  for (const [, change] of outputsOf(plan)) learnSecrets(change, redactor);
  for (const { resource } of deferredOf(plan)) learnSecrets(changeOf(resource), redactor);
  for (const { invocation } of invocationsOf(plan)) {
    learnSecrets(
      { after: invocation['config_values'] ?? null, after_sensitive: invocation['config_sensitive'] ?? false },
      redactor,
    );
  }
}

export function readSections(plan: JsonObject, reading: SectionsReading): Omit<PlanSections, 'diagnostics'> {
  const { redactor } = reading;
  return {
    outputs: readOutputs(plan, reading).filter(({ action }) => action !== 'no-op'),
    checks: asArray(plan['checks'])
      .filter(isObject)
      .flatMap((check) => readChecks(check, redactor)),
    actions: invocationsOf(plan).map((each) => readInvocation(each, redactor)),
    deferred: deferredOf(plan).map(
      ({ reason, resource }): DeferredChange => ({ reason, change: readChange(resource, reading) }),
    ),
  };
}

function outputsOf(plan: JsonObject): [string, JsonObject][] {
  const outputs = plan['output_changes'];
  return Object.entries(isObject(outputs) ? outputs : {}).flatMap(([name, change]) =>
    isObject(change) ? [[name, change]] : [],
  );
}

/**
 * Reads outputs. Their declared names stay as they are, because everybody can read them in the configuration. Masking one would only show
 * that it contains a secret.
 */
function readOutputs(plan: JsonObject, reading: SectionsReading): PlannedOutput[] {
  const read = (change: JsonObject, name: string) => readOutput(name, change, reading);
  const outputs = maskNames(Object.fromEntries(outputsOf(plan)), reading.redactor, read, reading.declaredOutputs);
  return Object.entries(outputs).map(([name, output]) => ({ name, ...output }));
}

function readOutput(
  name: string,
  change: JsonObject,
  { redactor, secretOutputs }: SectionsReading,
): Omit<PlannedOutput, 'name'> {
  const isMarked = hasMark(change['before_sensitive']) || hasMark(change['after_sensitive']);
  const isSecret = secretOutputs.has(name);
  // For an output that is entirely secret, readers may only see whether it has a value.
  const sides = readSides(isSecret ? { ...change, before_sensitive: true, after_sensitive: true } : change, redactor);
  const isKnown = [change['before'], change['after']].some((side = null) => secretPaths(side, redactor).length > 0);
  return { action: readAction(change), ...sides, sensitive: isMarked || isSecret || isKnown };
}

const kinds: Readonly<Record<string, CheckKind>> = { resource: 'resource', output_value: 'output', var: 'variable' };

/** Reads a check, which has a result for each instance of its object. If its instances are not known yet, the check itself has one. */
function readChecks(check: JsonObject, redactor: Redactor): PlanCheck[] {
  const address = isObject(check['address']) ? check['address'] : {};
  const kind = kinds[String(address['kind'])] ?? 'check';
  const instances = asArray(check['instances']).filter(isObject);
  return (instances.length > 0 ? instances : [check]).map((instance) => ({
    address: redactor.redactText(displayOf(instance['address'])),
    kind,
    status: statusOf(instance['status']),
    problems: asArray(instance['problems'])
      .filter(isObject)
      .slice(0, maxProblems)
      .map(({ message }) => cut(redactor.redactText(String(message ?? '')))),
  }));
}

function displayOf(address: JsonValue | undefined): string {
  return String((isObject(address) ? address['to_display'] : null) ?? 'a check');
}

function statusOf(status: JsonValue | undefined): CheckStatus {
  return checkStatuses.find((each) => each === status) ?? 'unknown';
}

function cut(text: string): string {
  return cutText(text.toWellFormed().replaceAll('\0', ''), maxProblemLength);
}

interface Invocation {
  readonly invocation: JsonObject;
  readonly deferred: string | null;
}

function invocationsOf(plan: JsonObject): Invocation[] {
  const now = asArray(plan['action_invocations'])
    .filter(isObject)
    .map((invocation) => ({ invocation, deferred: null }));
  const later = asArray(plan['deferred_action_invocations'])
    .filter(isObject)
    .map(({ action_invocation: invocation, reason }) => ({
      invocation: isObject(invocation) ? invocation : {},
      deferred: readReason(reason),
    }));
  return [...now, ...later];
}

function readInvocation({ invocation, deferred }: Invocation, redactor: Redactor): PlannedAction {
  const lifecycle = invocation['lifecycle_action_trigger'];
  const { triggering_resource_address: trigger, action_trigger_event: event } = isObject(lifecycle) ? lifecycle : {};
  const { config_values: values = null, config_unknown: unknown, config_sensitive: sensitive } = invocation;
  const text = (value: JsonValue | undefined) => (typeof value === 'string' ? redactor.redactText(value) : null);
  return {
    address: text(invocation['address']) ?? '',
    type: text(invocation['type']) ?? '',
    event: text(event),
    trigger: text(trigger),
    config: shownValue(maskMarked(maskMarked(values, unknown, unknownMark), sensitive, sensitiveMark), redactor),
    deferred,
  };
}

function deferredOf(plan: JsonObject): { reason: string; resource: JsonObject }[] {
  return asArray(plan['deferred_changes'])
    .filter(isObject)
    .map(({ reason, resource_change: resource }) => ({
      reason: readReason(reason),
      resource: isObject(resource) ? resource : {},
    }));
}

/** The tool chooses reasons from a list of its own, which newer versions extend. */
function readReason(reason: JsonValue | undefined): string {
  return typeof reason === 'string' && /^[a-z_]{1,100}$/.test(reason) ? reason : 'unknown';
}
