import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { readState } from './state.ts';
import { toDeployedResource } from './state-file/addresses.ts';

/** A larger state would keep this process busy for too long. */
const largestCompared = 8 * 1024 * 1024;
/** The comparison says how many more there are. */
const mostResources = 200;
const mostAttributes = 200;
const longestValue = 2_000;

/** A value that differs between two states. Null: it is not there. */
export interface AttributeChange {
  /** Where it lies in the resource, such as `tags.Name` or `rules[0].port`. */
  readonly path: string;
  /** The value as JSON, cut where it is long; null where the state does not have it, or where the value is secret. */
  readonly before: string | null;
  readonly after: string | null;
  readonly sensitive: boolean;
}

/** A resource that differs between two states. */
export interface ResourceChange {
  readonly address: string;
  readonly action: 'create' | 'update' | 'delete';
  readonly attributes: readonly AttributeChange[];
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
  return {
    changes: shown.map((address) => compareResource(address, old.get(address), present.get(address))),
    omitted: differing.length - shown.length,
    unchanged: addresses.length - differing.length,
  };
}

interface StateResource {
  readonly attributes: JsonValue;
  /** The paths of sensitive values. */
  readonly sensitive: ReadonlySet<string>;
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
  try {
    const state: unknown = JSON.parse(content.toString('utf8'));
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
function readMarks(marks: unknown): ReadonlySet<string> {
  if (!Array.isArray(marks)) return new Set();
  return new Set(
    marks.filter(Array.isArray).map((steps: unknown[]) =>
      steps.filter(isObject).reduce<string>((path, { value }) => {
        const step = isObject(value) ? value['value'] : value;
        return join(path, typeof step === 'number' ? step : String(step));
      }, ''),
    ),
  );
}

function compareResource(
  address: string,
  before: StateResource | undefined,
  after: StateResource | undefined,
): ResourceChange {
  const sensitive = new Set([...(before?.sensitive ?? []), ...(after?.sensitive ?? [])]);
  const [old, present] = [flatten(before?.attributes, sensitive), flatten(after?.attributes, sensitive)];
  const paths = [...new Set([...old.keys(), ...present.keys()])].filter((path) => old.get(path) !== present.get(path));
  const shown = paths.slice(0, mostAttributes).map((path) => {
    const isSecret = sensitive.has(path);
    const show = (value: string | undefined) => (value === undefined || isSecret ? null : cut(value));
    return { path, before: show(old.get(path)), after: show(present.get(path)), sensitive: isSecret };
  });
  const action = !before ? 'create' : !after ? 'delete' : 'update';
  return { address, action, attributes: shown, omittedAttributes: paths.length - shown.length };
}

/** Every value by its path, as JSON. A sensitive value is not taken apart, and an empty list or object is a value. */
function flatten(value: JsonValue | undefined, sensitive: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (path: string, each: JsonValue): void => {
    const members = Array.isArray(each) ? [...each.entries()] : isObject(each) ? Object.entries(each) : [];
    if (members.length === 0 || sensitive.has(path)) found.set(path, JSON.stringify(each));
    else for (const [key, member] of members) visit(join(path, key), member as JsonValue);
  };
  if (value !== undefined && value !== null) visit('', value);
  return found;
}

function join(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

function cut(text: string): string {
  return text.length > longestValue ? `${text.slice(0, longestValue).toWellFormed()}…` : text;
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
