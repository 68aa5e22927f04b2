import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type Effort, newEffort } from '#domain/shared/values/comparison/compare.ts';
import { hideAt } from '#domain/shared/values/comparison/hidden.ts';
import { nestingOf } from '#domain/shared/values/comparison/nesting.ts';
import type { ValuePath } from '#domain/shared/values/comparison/paths.ts';
import { listValueChanges, type ValueChange } from '#domain/shared/values/comparison/value-changes.ts';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { toDeployedResource } from '../state-file/addresses.ts';
import { readState } from './state.ts';

/** A larger state would keep this process busy for too long. */
const largestCompared = 8 * 1024 * 1024;
/** No tool nests values this deep. */
const deepest = 500;
/** The comparison says how many more there are. */
const mostResources = 200;
const mostAttributes = 200;
const longestValue = 2_000;

/** A resource that differs between two states. */
export interface ResourceChange {
  readonly address: string;
  readonly action: 'create' | 'update' | 'delete';
  readonly attributes: readonly ValueChange[];
  /** How many more of its values differ. */
  readonly omittedAttributes: number;
}

export interface StateComparison {
  readonly changes: readonly ResourceChange[];
  /** How many more resources differ. */
  readonly omitted: number;
  readonly unchanged: number;
}

/**
 * Compares two state versions of an instance, resource by resource. The values that a state marks as sensitive are not told, only that they
 * differ. Undefined if the instance does not have both versions.
 * @throws Unprocessable for states that are too large, or that no tool wrote
 */
export async function compareStates(
  em: Em,
  keyRing: KeyRing,
  instanceId: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<StateComparison | undefined> {
  const before = await readState(em, keyRing, instanceId, from);
  const after = await readState(em, keyRing, instanceId, to);
  return before && after ? compareContents(before, after) : undefined;
}

/** @throws Unprocessable for states that are too large, or that no tool wrote */
export function compareContents(before: Buffer, after: Buffer): StateComparison {
  const [old, present] = [before, after].map(readResources) as [StateResources, StateResources];
  const addresses = [...new Set([...old.keys(), ...present.keys()])].sort();
  const differing = addresses.filter((address) => !isDeepStrictEqual(old.get(address), present.get(address)));
  const shown = differing.slice(0, mostResources);
  const effort = newEffort();
  return {
    changes: shown.map((address) => compareResource(address, old.get(address), present.get(address), effort)),
    omitted: differing.length - shown.length,
    unchanged: addresses.length - differing.length,
  };
}

interface StateResource {
  readonly attributes: JsonValue;
  /** The paths of sensitive values. */
  readonly sensitive: readonly ValuePath[];
}
type StateResources = ReadonlyMap<string, StateResource>;

function readResources(content: Buffer): StateResources {
  if (content.length > largestCompared) {
    throw new Unprocessable(
      `a state of more than ${largestCompared / 1024 / 1024} MiB is not compared here: download both states and compare the files`,
      { code: 'state_too_large' },
    );
  }
  const { resources } = parse(content);
  if (!Array.isArray(resources)) throw unusable();
  return new Map(resources.filter(isObject).flatMap(readInstances));
}

function parse(content: Buffer): Readonly<Record<string, unknown>> {
  const text = content.toString('utf8');
  if (nestingOf(text) > deepest) throw unusable();
  try {
    const state: unknown = parseExactJson(text);
    if (isObject(state)) return state;
  } catch {
    // It is answered below like a state of another form.
  }
  throw unusable();
}

function unusable(): Unprocessable {
  return new Unprocessable('only states of OpenTofu and Terraform that are not encrypted can be compared', {
    code: 'state_unusable',
  });
}

/** The objects of one resource: of `count` or `for_each` there are several. Data sources are read anew each time, so they do not count. */
function readInstances(resource: Readonly<Record<string, unknown>>): [string, StateResource][] {
  const { mode, module, type, name, instances } = resource;
  if (mode === 'data' || !Array.isArray(instances)) return [];
  return instances.filter(isObject).map((object) => {
    const { index_key: key, deposed, attributes, sensitive_attributes: marks } = object;
    const named = {
      module: toText(module),
      type: toText(type) ?? '',
      name: toText(name) ?? '',
      provider: null,
      key: typeof key === 'number' ? key : toText(key),
      deposed: toText(deposed),
    };
    const { address } = toDeployedResource(named);
    return [address, { attributes: (attributes ?? null) as JsonValue, sensitive: readMarks(marks) }];
  });
}

/** A mark is a list of steps: `{ type: "get_attr", value: "x" }` or `{ type: "index", value: … }`. */
function readMarks(marks: unknown): ValuePath[] {
  if (!Array.isArray(marks)) return [];
  return marks.filter(Array.isArray).map((steps: unknown[]) =>
    steps.filter(isObject).map(({ value }) => {
      const step = isObject(value) ? value['value'] : value;
      return typeof step === 'number' ? step : String(step);
    }),
  );
}

/** What one of the two states marks as sensitive is hidden in both. */
function compareResource(
  address: string,
  before: StateResource | undefined,
  after: StateResource | undefined,
  effort: Effort,
): ResourceChange {
  const sensitive = [...(before?.sensitive ?? []), ...(after?.sensitive ?? [])];
  const { changes, omitted } = listValueChanges(
    before && hideAt(before.attributes, sensitive),
    after && hideAt(after.attributes, sensitive),
    { effort, isNullMissing: true, mostChanges: mostAttributes, longestValue },
  );
  const action = !before ? 'create' : !after ? 'delete' : 'update';
  return { address, action, attributes: changes, omittedAttributes: omitted };
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
