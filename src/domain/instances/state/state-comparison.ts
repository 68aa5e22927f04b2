import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type Effort, newEffort } from '#domain/shared/values/comparison/compare.ts';
import { hideAt } from '#domain/shared/values/comparison/hidden.ts';
import { nestingOf } from '#domain/shared/values/comparison/nesting.ts';
import type { ValuePath } from '#domain/shared/values/comparison/paths.ts';
import { listValueChanges, type ValueChange } from '#domain/shared/values/comparison/value-changes.ts';
import { DistinctTexts } from '#domain/shared/values/distinct-texts.ts';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { type ParsedObject, readManagedObjects } from '../state-file/shown-resource.ts';
import { readStateContent, type StateContent } from './state.ts';

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
  const before = await readStateContent(em, keyRing, instanceId, from);
  const after = await readStateContent(em, keyRing, instanceId, to);
  return before && after ? compareContents(before, after) : undefined;
}

/** @throws Unprocessable for states that are too large, or that no tool wrote */
export function compareContents(before: StateContent, after: StateContent): StateComparison {
  const [old, present] = [before, after].map(readResources) as [StateResources, StateResources];
  const addresses = [...new Set([...old.keys(), ...present.keys()])];
  const pairs = addresses.map((address) => ({ address, before: old.get(address), after: present.get(address) }));
  const differing = namePairs(pairs.filter(isDifferent)).sort((one, other) => (one.shown < other.shown ? -1 : 1));
  const listed = differing.slice(0, mostResources);
  const effort = newEffort();
  return {
    changes: listed.map(({ shown, before: one, after: other }) => compareResource(shown, one, other, effort)),
    omitted: differing.length - listed.length,
    unchanged: addresses.length - differing.length,
  };
}

/** The resource with one address in the two states. */
interface Pair {
  readonly address: string;
  readonly before: ComparedResource | undefined;
  readonly after: ComparedResource | undefined;
}

function isDifferent({ before, after }: Pair): boolean {
  const sides = [before, after].map((each) => each && [each.attributes, each.sensitive]);
  return !isDeepStrictEqual(sides[0], sides[1]);
}

/** An address that one of the two states masks is masked. Two that are then shown alike are numbered. */
function namePairs(pairs: readonly Pair[]): (Pair & { readonly shown: string })[] {
  const maskOf = ({ address, before, after }: Pair) =>
    [after, before].find((each) => each !== undefined && each.shown !== address)?.shown;
  const open = pairs.filter((pair) => maskOf(pair) === undefined).map(({ address }) => address);
  const distinct = new DistinctTexts(open);
  return pairs.map((pair) => {
    const mask = maskOf(pair);
    return { ...pair, shown: mask === undefined ? pair.address : distinct.add(mask) };
  });
}

interface ComparedResource {
  readonly shown: string;
  readonly attributes: JsonValue;
  /** The paths of sensitive values. */
  readonly sensitive: readonly ValuePath[];
}
type StateResources = ReadonlyMap<string, ComparedResource>;

function readResources({ content, maskedAddresses }: StateContent): StateResources {
  if (content.length > largestCompared) {
    throw new Unprocessable(
      `a state of more than ${largestCompared / 1024 / 1024} MiB is not compared here: download both states and compare the files`,
      { code: 'state_too_large' },
    );
  }
  const { resources } = parse(content);
  if (!Array.isArray(resources)) throw unusable();
  return new Map(readManagedObjects(resources, maskedAddresses).map(toCompared));
}

function parse(content: Buffer): Readonly<Record<string, JsonValue>> {
  const text = content.toString('utf8');
  if (nestingOf(text) > deepest) throw unusable();
  try {
    const state = parseExactJson(text);
    if (isJsonObject(state)) return state;
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

function toCompared({ resource, members }: ParsedObject): [string, ComparedResource] {
  const { attributes = null, sensitive_attributes: marks } = members;
  return [resource.address, { shown: resource.shown.address, attributes, sensitive: readMarks(marks) }];
}

/** A mark is a list of steps: `{ type: "get_attr", value: "x" }` or `{ type: "index", value: … }`. */
function readMarks(marks: JsonValue | undefined): ValuePath[] {
  if (!Array.isArray(marks)) return [];
  return marks.filter(Array.isArray).map((steps: JsonValue[]) =>
    steps.filter(isJsonObject).map(({ value }) => {
      const step = isJsonObject(value) ? value['value'] : value;
      return typeof step === 'number' ? step : String(step);
    }),
  );
}

/** What one of the two states marks as sensitive is hidden in both. */
function compareResource(
  address: string,
  before: ComparedResource | undefined,
  after: ComparedResource | undefined,
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
