import { toSentence } from '#api/web/text.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { Budget } from './budget.ts';
import { budgetFor, costInside, maxEntries } from './cost.ts';
import { decodeEntry, type SentFields } from './decode.ts';
import { applyEdit, type Edit } from './edit.ts';
import type { Entry } from './entry.ts';
import { entryOf } from './fill.ts';
import { holdsSecret, type ObjectNode } from './plan/node.ts';
import { fieldNames, slots } from './slots.ts';
import { readEntry, type ValueProblem } from './value.ts';

/** The entry for all variables: in fields, or as one JSON text, beside which secrets keep their fields. */
export interface VariablesEntry {
  /** The JSON text; null if all variables have fields. */
  readonly json: string | null;
  /** Why the form could not show the JSON as fields, when the visitor asked for that. */
  readonly unshown?: string;
  readonly members: Readonly<Record<string, Entry>>;
}

/** The variables that JSON shows: all but those with secrets, which must stay hidden. */
export function openPart(root: ObjectNode): ObjectNode {
  return { ...root, members: root.members.filter((member) => !holdsSecret(member)) };
}

export function secretPart(root: ObjectNode): ObjectNode {
  return { ...root, members: root.members.filter(holdsSecret) };
}

/** A form that is filled in from values. Values of unknown variables are left out. */
export function fillVariables(
  root: ObjectNode,
  values: Readonly<Record<string, JsonValue>>,
  budget = budgetFor(root),
): VariablesEntry {
  const members = root.members.map((member): [string, Entry] => [
    member.name,
    entryOf(member, Object.hasOwn(values, member.name) ? values[member.name] : undefined, budget),
  ]);
  return { json: null, members: Object.fromEntries(members) };
}

export function decodeVariables(sent: SentFields, root: ObjectNode): VariablesEntry {
  const json = sent.get(fieldNames.json(''))?.[0] ?? null;
  const budget = budgetFor(root);
  const members = root.members.map((member): [string, Entry] => [
    member.name,
    decodeEntry(sent, member, slots.member('', member.name), budget),
  ]);
  return { json, members: Object.fromEntries(members) };
}

export interface EnteredVariables {
  readonly values: Record<string, JsonValue>;
  readonly problems: readonly ValueProblem[];
}

/**
 * Reads all variables. If one of them cannot be sent to the service, missing required variables are reported here too, because the service,
 * which otherwise reports them, is not called.
 */
export function readVariables(root: ObjectNode, entry: VariablesEntry): EnteredVariables {
  const { values, problems } = readEntered(root, entry);
  return { values, problems: problems.length > 0 ? [...problems, ...findMissing(root, values, problems)] : problems };
}

function findMissing({ members }: ObjectNode, values: object, problems: readonly ValueProblem[]): ValueProblem[] {
  return members
    .filter((member) => member.isRequired && member.default === undefined && !Object.hasOwn(values, member.name))
    .map(({ name }) => ({ pointer: `/${escapePointer(name)}`, message: 'enter a value' }))
    .filter(({ pointer }) => !problems.some((problem) => problem.pointer === '' || problem.pointer === pointer));
}

function readEntered(root: ObjectNode, entry: VariablesEntry): EnteredVariables {
  const fields = entry.json === null ? root : secretPart(root);
  const { value, problems } = readEntry(fields, { kind: 'object', members: entry.members, rows: [] }, '');
  const values = (value ?? {}) as Record<string, JsonValue>;
  if (entry.json === null) return { values, problems };
  const written = readEntry(openPart(root), { kind: 'json', text: entry.json }, '');
  const isObject = typeof written.value === 'object' && written.value !== null && !Array.isArray(written.value);
  const others = written.value === undefined || isObject ? [] : [{ pointer: '', message: 'must be an object' }];
  const open = isObject ? (written.value as Record<string, JsonValue>) : {};
  return { values: { ...open, ...values }, problems: [...problems, ...written.problems, ...others] };
}

/** The form after a button in it was pressed. */
export function editVariables(root: ObjectNode, entry: VariablesEntry, edit: Edit): VariablesEntry {
  if (edit.slot !== '') {
    const whole: Entry = { kind: 'object', members: entry.members, rows: [] };
    const edited = applyEdit(root, whole, edit, new Budget(maxEntries - costInside(root, whole)));
    return edited.kind === 'object' ? { ...entry, members: edited.members } : entry;
  }
  if (edit.name === 'json' && entry.json === null) {
    const { values } = readVariables(openPart(root), entry);
    return { ...entry, json: JSON.stringify(values, null, 2) };
  }
  if (edit.name !== 'form' || entry.json === null) return entry;
  const { values, problems } = readVariables(openPart(root), { json: entry.json, members: {} });
  const [problem] = problems;
  if (problem) return { ...entry, unshown: `The variables cannot be shown as a form. ${toSentence(problem.message)}` };
  const secrets: Entry = { kind: 'object', members: entry.members, rows: [] };
  const budget = budgetFor(openPart(root), costInside(secretPart(root), secrets));
  const { members } = fillVariables(openPart(root), values, budget);
  return { json: null, members: { ...entry.members, ...members } };
}
