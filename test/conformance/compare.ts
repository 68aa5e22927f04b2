import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { type Lifecycle, listOf, objectOf } from './lifecycle.ts';

const noState = { resources: [], outputs: {}, checks: null };

export interface Difference {
  /** Such as `outputs`. */
  readonly part: string;
  readonly text: string;
}

/** What differs between a configuration by hand and by the service; empty if nothing does. */
export function compareLifecycles(bare: Lifecycle, service: Lifecycle): Difference[] {
  if (bare.stage === 'plan' && isRefusedBefore(service, bare.error)) return [];
  if (bare.stage !== service.stage) {
    const ends = (one: Lifecycle) => `${one.stage} ${one.error ?? ''}`.trimEnd();
    return [{ part: 'stage', text: `by hand: ${ends(bare)} | by the service: ${ends(service)}` }];
  }
  const parts = {
    error: [bare.error, isSameError(bare.error, service.error) ? bare.error : service.error],
    'planned changes': [bareChanges(bare.plan), serviceChanges(service.plan)],
    'planned outputs': [bareOutputChanges(bare.plan), serviceOutputChanges(service.plan)],
    outputs: [outputsOf(bare.outputs), outputsOf(service.outputs)],
    state: [bare.state ?? noState, service.state ?? noState],
    'second plan is empty': [bare.isSettled, service.isSettled],
  } satisfies Record<string, readonly [JsonValue, JsonValue]>;
  return Object.entries(parts).flatMap(([part, [one, other]]) => {
    const [left, right] = [settle(one), settle(other)];
    return left === right ? [] : [{ part, text: `${part}: by hand ${left} | by the service ${right}` }];
  });
}

/** IDs, times and bcrypt hashes, which differ in every run, are treated as equal, and so are both working directories. */
function settle(value: JsonValue): string {
  return canonicalJson(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME')
    .replaceAll(/"\$2[aby]\$[^"]{50,}"/g, '"BCRYPT"')
    .replaceAll(/"[^"]*\/coordinator-conformance-bare-\w+\/work/g, '"/work');
}

/** Publication asks the tool to validate, so it refuses at once what would fail the plan: with this error, or it among others. */
function isRefusedBefore({ stage, refusals = [] }: Lifecycle, summary: string | null): boolean {
  return stage === 'publish' && refusals.some((refusal) => isSameError(summary, refusal));
}

/** By hand, the summary of an error is known; the service says the detail behind it. A cycle is listed from any of its members on. */
function isSameError(summary: string | null, message: string | null): boolean {
  // A summary without a word is found in every message.
  if (!summary || message === null) return summary === message;
  const words = (text: string) => text.split(/[\s,:]+/).filter((word) => word !== '');
  const said = words(message).slice(0, words(summary).length);
  return words(summary).sort().join(' ') === said.sort().join(' ');
}

const quiet = new Set(['no-op', 'read']);

function bareChanges(plan: JsonValue): JsonValue {
  const changes = listOf(objectOf(plan)['resource_changes']).map(objectOf);
  return changes
    .map(({ address = '', change }) => `${address} ${actionOf(listOf(objectOf(change)['actions']))}`)
    .filter((line) => ![...quiet].some((action) => line.endsWith(` ${action}`)))
    .sort();
}

function actionOf(actions: readonly JsonValue[]): string {
  return actions.length > 1 ? 'replace' : String(actions[0]);
}

function serviceChanges(plan: JsonValue): JsonValue {
  const changes = listOf(objectOf(plan)['changes']).map(objectOf);
  return changes
    .filter(({ action }) => !quiet.has(String(action)))
    .map(({ address, action }) => `${address} ${action}`)
    .sort();
}

function bareOutputChanges(plan: JsonValue): JsonValue {
  const changes = Object.entries(objectOf(objectOf(plan)['output_changes']));
  return changes
    .map(([name, change]) => `${name} ${actionOf(listOf(objectOf(change)['actions']))}`)
    .filter((line) => !line.endsWith(' no-op'))
    .sort();
}

function serviceOutputChanges(plan: JsonValue): JsonValue {
  const changes = listOf(objectOf(plan)['outputs']).map(objectOf);
  return changes
    .filter(({ action }) => !quiet.has(String(action)))
    .map(({ name, action }) => `${name} ${action}`)
    .sort();
}

/** The service shows no value that is sensitive, and keeps outputs that are null, which the tool's own list leaves out. */
function outputsOf(outputs: JsonValue): JsonValue {
  const shown: { [name: string]: JsonValue } = {};
  for (const [name, output] of Object.entries(objectOf(outputs))) {
    const { value = null, sensitive = false } = objectOf(output);
    if (sensitive === true) shown[name] = 'SENSITIVE';
    else if (value !== null) shown[name] = value;
  }
  return shown;
}
