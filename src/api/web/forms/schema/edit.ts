import type { JsonValue } from '#domain/shared/values/json.ts';
import { blankEntry, type Entry, entryOf, itemNode, mostItems } from './entry.ts';
import { isComposite, type Node, type ObjectNode } from './node.ts';
import { slots } from './slots.ts';
import { readEntry } from './value.ts';

/** What a button inside a form does to one part of it, without sending the form. */
const edits = ['add', 'remove', 'json', 'form', 'default', 'show'] as const;

export interface Edit {
  readonly name: (typeof edits)[number];
  readonly slot: string;
  /** Which item or row is removed. */
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

/** The entry after an edit. An edit that fits no part changes nothing. */
export function applyEdit(node: Node, entry: Entry, edit: Edit, slot = ''): Entry {
  if (slot === edit.slot) return change(node, entry, edit);
  if (!edit.slot.startsWith(`${slot}/`)) return entry;
  if (node.kind === 'object' && entry.kind === 'object') return editObject(node, entry, edit, slot);
  if (node.kind === 'array' && entry.kind === 'array') {
    const items = entry.items.map((item, index) =>
      applyEdit(itemNode(node, index) ?? node, item, edit, slots.item(slot, index)),
    );
    return { ...entry, items };
  }
  const shape = node.kind === 'shapes' && entry.kind === 'shapes' ? node.shapes[entry.shape ?? -1] : undefined;
  if (!shape || entry.kind !== 'shapes' || !entry.entry) return entry;
  return { ...entry, entry: applyEdit(shape, entry.entry, edit, slots.shape(slot, entry.shape ?? 0)) };
}

function editObject(node: ObjectNode, entry: Extract<Entry, { kind: 'object' }>, edit: Edit, slot: string): Entry {
  const { row } = node;
  const members = node.members.map((member): [string, Entry] => {
    const now = entry.members[member.name] ?? blankEntry(member);
    return [member.name, applyEdit(member, now, edit, slots.member(slot, member.name))];
  });
  const rows = entry.rows.map((each, index) =>
    row ? { ...each, entry: applyEdit(row, each.entry, edit, slots.row(slot, index)) } : each,
  );
  return { ...entry, members: Object.fromEntries(members), rows };
}

function change(node: Node, entry: Entry, { name, index }: Edit): Entry {
  if (name === 'add') return addTo(node, entry);
  if (name === 'remove') return removeFrom(entry, index);
  if (name === 'default') return entryOf(node, node.default);
  const isJson = entry.kind === 'json';
  if (name === 'json' && !isJson && isComposite(node)) return asJson(readEntry(node, entry, '').value);
  if (name === 'form' && isJson) return asForm(node, entry.text);
  return entry;
}

function addTo(node: Node, entry: Entry): Entry {
  if (entry.kind === 'array' && node.kind === 'array') {
    const item = itemNode(node, entry.items.length);
    if (!item || entry.items.length >= mostItems) return entry;
    return { ...entry, items: [...entry.items, blankEntry(item)] };
  }
  if (entry.kind !== 'object' || node.kind !== 'object' || !node.row || entry.rows.length >= mostItems) return entry;
  return { ...entry, rows: [...entry.rows, { key: '', entry: blankEntry(node.row) }] };
}

function removeFrom(entry: Entry, removed: number): Entry {
  if (entry.kind === 'array') return { ...entry, items: entry.items.filter((_, index) => index !== removed) };
  if (entry.kind === 'object') return { ...entry, rows: entry.rows.filter((_, index) => index !== removed) };
  return entry;
}

function asJson(value: JsonValue | undefined): Entry {
  return { kind: 'json', text: value === undefined ? '' : JSON.stringify(value, null, 2) };
}

/** A text that is not JSON, or that the form cannot show, stays as it is. */
function asForm(node: Node, text: string): Entry {
  const { value, problems } = readEntry(node, { kind: 'json', text }, '');
  return problems.length > 0 ? { kind: 'json', text } : entryOf(node, value);
}
