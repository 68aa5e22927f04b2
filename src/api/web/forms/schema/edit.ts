import { toSentence } from '#api/web/text.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { blankEntry } from './blank.ts';
import type { Budget } from './budget.ts';
import { costOf } from './cost.ts';
import { type Entry, itemNode, maxFormItems } from './entry.ts';
import { entryOf } from './fill.ts';
import { holdsSecret, isComposite, type Node, type ObjectNode } from './plan/node.ts';
import { isObject } from './plan/resolve.ts';
import { slots } from './slots.ts';
import { readEntry } from './value.ts';

/** Why the form of a variable cannot show a value that is written as JSON, and what the visitor can do about it. */
function explainUnshown(node: Node, value: JsonValue): string {
  return `${reasonOf(node, value)} Correct the JSON, or empty it to go back to an empty form.`;
}

function reasonOf(node: Node, value: JsonValue): string {
  const wanted = wantedBy(node);
  if (wanted !== null && wanted !== kindOf(value)) return `The form takes ${wanted}, and this is ${kindOf(value)}.`;
  if (node.kind === 'shapes') return 'The value fits none of the kinds that the form offers.';
  const count = Array.isArray(value) ? value.length : Object.keys(isObject(value) ? value : {}).length;
  if (count === 0) return 'The form would leave an empty value out.';
  if (node.kind === 'object' && isObject(value) && Object.hasOwn(value, '')) return 'The form takes no empty name.';
  const unknown = unknownIn(node, value);
  if (unknown !== undefined) return `The form has no field for ${unknown}.`;
  return count > maxFormItems
    ? `The form shows at most ${maxFormItems} entries, and these are ${count}.`
    : 'The form has no room for all of it.';
}

function unknownIn(node: Node, value: JsonValue): string | undefined {
  if (node.kind !== 'object' || node.row || !isObject(value)) return undefined;
  const known = new Set(node.members.map(({ name }) => name));
  return Object.keys(value).find((name) => !known.has(name));
}

const anObject = 'named values, as in {"name": "value"}';
const aList = 'a list, as in ["value"]';

function wantedBy({ kind }: Node): string | null {
  if (kind === 'object') return anObject;
  return kind === 'array' || kind === 'many' ? aList : null;
}

function kindOf(value: JsonValue): string {
  if (Array.isArray(value)) return aList;
  if (value === null) return 'null';
  if (typeof value === 'object') return anObject;
  return typeof value === 'string' ? 'a text' : typeof value === 'number' ? 'a number' : 'true or false';
}

/** The actions of buttons inside a form. Each changes one part, without submitting the form. */
const edits = ['add', 'remove', 'json', 'form', 'default', 'forget', 'show'] as const;

export interface Edit {
  readonly name: (typeof edits)[number];
  readonly slot: string;
  /** The index of the item or row to remove. */
  readonly index: number;
}

/** The value of a button's `do`. */
export function writeEdit(name: Edit['name'], slot: string, index = 0): string {
  return `${name}:${index}@${slot}`;
}

/** Reads the value of `do`; null if no button of a form has it. */
export function readEdit(text: string): Edit | null {
  const [, name = '', index = '', slot = ''] = /^([a-z]+):(\d{1,4})@(.*)$/s.exec(text) ?? [];
  const known = edits.find((each) => each === name);
  return known ? { name: known, slot, index: Number(index) } : null;
}

/** The entry after an edit. An edit that matches no part changes nothing. The budget limits how much the whole form may grow. */
export function applyEdit(node: Node, entry: Entry, edit: Edit, budget: Budget, slot = ''): Entry {
  if (slot === edit.slot) return change(node, entry, edit, budget);
  if (!edit.slot.startsWith(`${slot}/`)) return entry;
  if (node.kind === 'object' && entry.kind === 'object') return editObject(node, entry, { edit, budget, slot });
  if (node.kind === 'array' && entry.kind === 'array') {
    const items = entry.items.map((item, index) =>
      applyEdit(itemNode(node, index) ?? node, item, edit, budget, slots.item(slot, index)),
    );
    return { ...entry, items };
  }
  const shape = node.kind === 'shapes' && entry.kind === 'shapes' ? node.shapes[entry.shape ?? -1] : undefined;
  if (!shape || entry.kind !== 'shapes' || !entry.entry) return entry;
  return { ...entry, entry: applyEdit(shape, entry.entry, edit, budget, slots.shape(slot, entry.shape ?? 0)) };
}

interface Editing {
  readonly edit: Edit;
  readonly budget: Budget;
  readonly slot: string;
}

function editObject(
  node: ObjectNode,
  entry: Extract<Entry, { kind: 'object' }>,
  { edit, budget, slot }: Editing,
): Entry {
  const { row } = node;
  const members = node.members.map((member): [string, Entry] => {
    const now = entry.members[member.name] ?? blankEntry(member, budget);
    return [member.name, applyEdit(member, now, edit, budget, slots.member(slot, member.name))];
  });
  const rows = entry.rows.map((each, index) =>
    row ? { ...each, entry: applyEdit(row, each.entry, edit, budget, slots.row(slot, index)) } : each,
  );
  return { ...entry, members: Object.fromEntries(members), rows };
}

function change(node: Node, entry: Entry, { name, index }: Edit, budget: Budget): Entry {
  if (name === 'add') return addTo(node, entry, budget);
  if (name === 'remove') return removeFrom(entry, index);
  if (name === 'default') return entryOf(node, node.default, budget);
  if (name === 'forget' && (entry.kind === 'text' || entry.kind === 'json')) return { ...entry, text: '' };
  const isJson = entry.kind === 'json';
  if (name === 'json' && !isJson && isComposite(node)) return asJson(readEntry(node, entry, '').value);
  if (name === 'form' && isJson) return asForm(node, entry.text, budget);
  return entry;
}

/** Adds an item. If the form is full, the list becomes JSON, which has no such limit, unless it contains secrets. */
function addTo(node: Node, entry: Entry, budget: Budget): Entry {
  const full = () => (holdsSecret(node) ? entry : asJson(readEntry(node, entry, '').value));
  if (entry.kind === 'array' && node.kind === 'array') {
    const item = itemNode(node, entry.items.length);
    if (!item || entry.items.length >= maxFormItems) return entry;
    if (!budget.spend(costOf(item))) return full();
    return { ...entry, items: [...entry.items, blankEntry(item, budget)] };
  }
  if (entry.kind !== 'object' || node.kind !== 'object' || !node.row || entry.rows.length >= maxFormItems) return entry;
  if (!budget.spend(costOf(node.row))) return full();
  return { ...entry, rows: [...entry.rows, { key: '', entry: blankEntry(node.row, budget) }] };
}

function removeFrom(entry: Entry, removed: number): Entry {
  if (entry.kind === 'array') return { ...entry, items: entry.items.filter((_, index) => index !== removed) };
  if (entry.kind === 'object') return { ...entry, rows: entry.rows.filter((_, index) => index !== removed) };
  return entry;
}

function asJson(value: JsonValue | undefined): Entry {
  return { kind: 'json', text: value === undefined ? '' : JSON.stringify(value, null, 2) };
}

/** Converts JSON into fields. A text that is not JSON, or that the form cannot show, stays as it is, with the reason. */
function asForm(node: Node, text: string, budget: Budget): Entry {
  const { value, problems } = readEntry(node, { kind: 'json', text }, '');
  const [problem] = problems;
  if (problem) return { kind: 'json', text, unshown: toSentence(problem.message) };
  const entry = entryOf(node, value, budget);
  return entry.kind === 'json' && value !== undefined
    ? { kind: 'json', text, unshown: explainUnshown(node, value) }
    : entry;
}
