import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { type EarlierSecrets, learnEarlierSecrets } from '#domain/shared/redaction/earlier-secrets.ts';
import { Redactor } from '#domain/shared/redaction/redactor.ts';
import { secretPaths } from '#domain/shared/redaction/secret-paths.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { type Effort, newEffort } from '#domain/shared/values/comparison/compare.ts';
import { hideAt } from '#domain/shared/values/comparison/hidden.ts';
import { nestingOf } from '#domain/shared/values/comparison/nesting.ts';
import type { ValuePath } from '#domain/shared/values/comparison/paths.ts';
import { listValueChanges, type ValueChange } from '#domain/shared/values/comparison/value-changes.ts';
import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { DistinctTexts } from '#domain/shared/values/text.ts';
import { secretNamesOf } from '../secret-outputs.ts';
import { type ParsedObject, readManagedObjects } from '../state-file/shown-resource.ts';
import {
  type ComparedResource,
  isDifferent,
  type Pair,
  pairResources,
  type StateResources,
} from './paired-resources.ts';
import { redactChange } from './redacted-change.ts';
import { readStateContent, type StateContent } from './state.ts';

/** A larger state would keep this process busy for too long. */
const maxComparedBytes = 8 * 1024 * 1024;
/** The maximum nesting of values; no tool nests them this deep. */
const maxDepth = 500;
/** Limits of the comparison, which counts what it leaves out. */
const maxResources = 200;
const maxAttributes = 200;
const maxValueLength = 2_000;
/** The maximum size of all forms of secrets, since redaction runs on the main thread. Beyond it, all values are masked. */
const maxSecretBytes = 2 * 1024 * 1024;

/** A resource that differs between two states. */
export interface ResourceChange {
  readonly address: string;
  readonly action: 'create' | 'update' | 'delete' | 'move';
  /** The address before a move; null: it has not moved. */
  readonly previousAddress: string | null;
  readonly attributes: readonly ValueChange[];
  /** The number of further values of the resource that differ. */
  readonly omittedAttributes: number;
}

export interface StateComparison {
  readonly changes: readonly ResourceChange[];
  /** The number of further resources that differ. */
  readonly omitted: number;
  readonly unchanged: number;
  readonly outputs: readonly ValueChange[];
  /** The number of further values of outputs that differ. */
  readonly omittedOutputs: number;
}

interface Serials {
  readonly from: number;
  readonly to: number;
}

/**
 * Compares two state versions of an instance, resource by resource. For values that a state marks as sensitive, or that contain a secret of
 * its runs, it reports only that they differ. Undefined if the instance does not have both versions.
 * @param findSecrets finds the secrets of the runs that wrote the two states
 * @throws Unprocessable for states that are too large, or that no tool wrote
 */
export async function compareStates(
  em: Em,
  keyRing: KeyRing,
  instanceId: string,
  serials: Serials,
  findSecrets: (em: Em, keyRing: KeyRing, instanceId: string, serials: Serials) => Promise<EarlierSecrets>,
): Promise<StateComparison | undefined> {
  const before = await readStateContent(em, keyRing, instanceId, serials.from);
  const after = await readStateContent(em, keyRing, instanceId, serials.to);
  if (!before || !after) return undefined;
  const redactor = new Redactor(maxSecretBytes);
  learnEarlierSecrets(redactor, await findSecrets(em, keyRing, instanceId, serials));
  return compareContents(before, after, await findSecretOutputs(em, instanceId), redactor);
}

/** The names of the outputs that the instance, or a newer version of its template, now marks as secret. */
async function findSecretOutputs(em: Em, instanceId: string): Promise<readonly string[]> {
  const row = await db(em)
    .selectFrom('instances as i')
    .where('i.id', '=', instanceId)
    .select(({ ref }) => secretNamesOf(ref('i.outputs'), ref('i.deployedRunId')).as('secret'))
    .executeTakeFirst();
  return row?.secret ?? [];
}

/**
 * @param secretOutputs the names of outputs that are secret, whatever the states say
 * @throws Unprocessable for states that are too large, or that no tool wrote
 */
export function compareContents(
  before: StateContent,
  after: StateContent,
  secretOutputs: readonly string[] = [],
  redactor = new Redactor(),
): StateComparison {
  const [one, other] = [parse(before), parse(after)];
  const [old, present] = [readResources(one, before), readResources(other, after)];
  const pairs = pairResources(old, present);
  const differing = namePairs(pairs.filter(isDifferent), redactor).sort((one, other) =>
    one.shown < other.shown ? -1 : 1,
  );
  const listed = differing.slice(0, maxResources);
  const effort = newEffort();
  const outputs = compareOutputs(one['outputs'], other['outputs'], { secretOutputs, redactor, effort });
  return {
    changes: listed.map((pair) => compareResource(pair, redactor, effort)),
    omitted: differing.length - listed.length,
    unchanged: pairs.length - differing.length,
    outputs: outputs.changes,
    omittedOutputs: outputs.omitted,
  };
}

/** Masks an address if one of the two states masks it, or if it contains a known secret. Addresses that become equal get numbers. */
function namePairs(pairs: readonly Pair[], redactor: Redactor): NamedPair[] {
  const maskOf = ({ address, before, after, isMoved }: Pair) => {
    const masked = [after, isMoved ? undefined : before].find(
      (each) => each !== undefined && each.shown !== address,
    )?.shown;
    const shown = redactor.redactText(masked ?? address);
    return shown === address ? undefined : shown;
  };
  const open = pairs.filter((pair) => maskOf(pair) === undefined).map(({ address }) => address);
  const distinct = new DistinctTexts(open);
  return pairs.map((pair) => {
    const mask = maskOf(pair);
    return { ...pair, shown: mask === undefined ? pair.address : distinct.add(mask) };
  });
}

interface NamedPair extends Pair {
  readonly shown: string;
}

type ParsedState = Readonly<Record<string, JsonValue>>;

function readResources({ resources }: ParsedState, { maskedAddresses }: StateContent): StateResources {
  if (!Array.isArray(resources)) throw unusable();
  return new Map(readManagedObjects(resources, maskedAddresses).map(toCompared));
}

function parse({ content }: StateContent): ParsedState {
  if (content.length > maxComparedBytes) {
    throw new Unprocessable(
      `a state of more than ${maxComparedBytes / 1024 / 1024} MiB is not compared here: download both states and compare the files`,
      { code: 'state_too_large' },
    );
  }
  const text = content.toString('utf8');
  if (nestingOf(text) > maxDepth) throw unusable();
  try {
    const state = parseExactJson(text);
    if (isJsonObject(state)) return state;
  } catch {
    // The error below is the same as for a state of another form.
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
  const { address: shown, type } = resource.shown;
  return [resource.address, { type, shown, attributes, sensitive: readMarks(marks) }];
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

interface Showing {
  readonly secretOutputs: readonly string[];
  readonly redactor: Redactor;
  readonly effort: Effort;
}

/** An output that one of the two states marks as sensitive is hidden in both. */
function compareOutputs(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  { secretOutputs, redactor, effort }: Showing,
) {
  const [old, present] = [readOutputs(before), readOutputs(after)];
  const marked = [...secretOutputs, ...old.secret, ...present.secret].map((name) => [name]);
  const secret = [...marked, ...secretPaths(old.values, redactor), ...secretPaths(present.values, redactor)];
  const found = listValueChanges(hideAt(old.values, secret), hideAt(present.values, secret), {
    effort,
    maxChanges: maxAttributes,
    maxValueLength,
  });
  return { ...found, changes: found.changes.map((change) => redactChange(change, redactor)) };
}

function readOutputs(outputs: JsonValue | undefined): { values: JsonValue; secret: string[] } {
  const entries = Object.entries(isJsonObject(outputs) ? outputs : {});
  const members = entries.map(([name, output]) => [name, isJsonObject(output) ? output : {}] as const);
  return {
    values: Object.fromEntries(members.map(([name, { value }]) => [name, value ?? null])),
    // Tools leave the member out of open outputs.
    secret: members.filter(([, { sensitive = false }]) => sensitive !== false).map(([name]) => name),
  };
}

/** Hides in both states the values that one of them marks as sensitive, and the values that contain a known secret. */
function compareResource(
  { shown, before, after, isMoved }: NamedPair,
  redactor: Redactor,
  effort: Effort,
): ResourceChange {
  const sides = [before, after].filter((side) => side !== undefined);
  const sensitive = sides.flatMap((side) => [...side.sensitive, ...secretPaths(side.attributes, redactor)]);
  const { changes, omitted } = listValueChanges(
    before && hideAt(before.attributes, sensitive),
    after && hideAt(after.attributes, sensitive),
    { effort, isNullMissing: true, maxChanges: maxAttributes, maxValueLength },
  );
  const action = isMoved ? 'move' : !before ? 'create' : !after ? 'delete' : 'update';
  const previousAddress = isMoved && before ? redactor.redactText(before.shown) : null;
  const attributes = changes.map((change) => redactChange(change, redactor));
  return { address: shown, action, previousAddress, attributes, omittedAttributes: omitted };
}
