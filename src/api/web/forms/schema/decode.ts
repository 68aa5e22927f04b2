import type { JsonValue } from '#domain/shared/values/json.ts';
import { blankEntry, type Entry, entryOf, itemNode, mostItems, type Row } from './entry.ts';
import type { ArrayNode, Node, ObjectNode, ShapesNode } from './node.ts';
import { isObject } from './resolve.ts';
import { fieldNames, slots } from './slots.ts';
import { readEntry } from './value.ts';

/** The fields that a form sent, by name. */
export type SentFields = ReadonlyMap<string, readonly string[]>;

/** Reads what was entered into a part of a form. What was not sent is blank. */
export function decodeEntry(sent: SentFields, node: Node, slot: string): Entry {
  const json = sent.get(fieldNames.json(slot))?.[0];
  if (json !== undefined) return { kind: 'json', text: toLines(json) };
  switch (node.kind) {
    case 'json':
      return blankEntry(node);
    case 'many':
      return { kind: 'many', texts: sent.get(fieldNames.value(slot)) ?? [] };
    case 'object':
      return { kind: 'object', members: decodeMembers(sent, node, slot), rows: decodeRows(sent, node, slot) };
    case 'array':
      return { kind: 'array', items: decodeItems(sent, node, slot) };
    case 'shapes':
      return decodeShape(sent, node, slot);
    default:
      return { kind: 'text', text: toLines(sent.get(fieldNames.value(slot))?.[0] ?? '') };
  }
}

function decodeMembers(sent: SentFields, node: ObjectNode, slot: string): Record<string, Entry> {
  return Object.fromEntries(
    node.members.map((member) => [member.name, decodeEntry(sent, member, slots.member(slot, member.name))]),
  );
}

function decodeRows(sent: SentFields, { row }: ObjectNode, slot: string): Row[] {
  if (!row) return [];
  return Array.from({ length: countOf(sent, slot) }, (_, index) => {
    const place = slots.row(slot, index);
    return { key: sent.get(fieldNames.key(place))?.[0] ?? '', entry: decodeEntry(sent, row, place) };
  });
}

function decodeItems(sent: SentFields, node: ArrayNode, slot: string): Entry[] {
  const count = Math.max(node.first.length, countOf(sent, slot));
  return Array.from({ length: count }, (_, index) => {
    const item = itemNode(node, index);
    return item ? decodeEntry(sent, item, slots.item(slot, index)) : null;
  }).filter((entry) => entry !== null);
}

function countOf(sent: SentFields, slot: string): number {
  const count = Number(sent.get(fieldNames.count(slot))?.[0] ?? 0);
  return Number.isInteger(count) ? Math.min(Math.max(count, 0), mostItems) : 0;
}

/** The chosen shape. If another one was shown, what both have is taken over. */
function decodeShape(sent: SentFields, node: ShapesNode, slot: string): Entry {
  const shape = indexIn(node, sent.get(fieldNames.shape(slot))?.[0]);
  const chosen = shape === null ? undefined : node.shapes[shape];
  if (shape === null || !chosen) return { kind: 'shapes', shape: null, entry: null };
  const shown = indexIn(node, sent.get(fieldNames.shown(slot))?.[0]);
  const before = shown === null ? undefined : node.shapes[shown];
  if (shown === null || shown === shape || !before)
    return { kind: 'shapes', shape, entry: decodeEntry(sent, chosen, slots.shape(slot, shape)) };
  const value = readEntry(before, decodeEntry(sent, before, slots.shape(slot, shown)), '').value;
  return { kind: 'shapes', shape, entry: takeOver(chosen, value) };
}

function takeOver(node: Node, value: JsonValue | undefined): Entry {
  if (node.kind !== 'object' || !isObject(value)) return blankEntry(node);
  const common = Object.entries(value).filter(([name]) =>
    node.members.some((member) => member.name === name && member.kind !== 'fixed'),
  );
  const entry = common.length > 0 ? entryOf(node, Object.fromEntries(common)) : blankEntry(node);
  return entry.kind === 'json' ? blankEntry(node) : entry;
}

function indexIn({ shapes }: ShapesNode, text: string | undefined): number | null {
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) < shapes.length ? Number(text) : null;
}

/** Browsers send every line break as CR LF. */
function toLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
