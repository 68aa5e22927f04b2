import { Invalid } from '#domain/shared/errors.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { toLines } from '../read-form.ts';
import { blankEntry } from './blank.ts';
import type { Budget } from './budget.ts';
import { costOf, costOfAll, maxEntries } from './cost.ts';
import { type Entry, itemNode, maxFormItems, type Row } from './entry.ts';
import { entryOf } from './fill.ts';
import type { ArrayNode, Node, ObjectNode, ShapesNode } from './plan/node.ts';
import { isObject } from './plan/resolve.ts';
import { fieldNames, slots } from './slots.ts';
import { readEntry } from './value.ts';

/** The fields that a form sent, by name. */
export type SentFields = ReadonlyMap<string, readonly string[]>;

/**
 * Reads what was entered into a part of a form. What was not sent is empty.
 * @throws Invalid if the form has more parts than its budget allows: a small request may ask for any number of them
 */
export function decodeEntry(sent: SentFields, node: Node, slot: string, budget: Budget): Entry {
  const json = sent.get(fieldNames.json(slot))?.[0];
  if (json !== undefined) return { kind: 'json', text: toLines(json) };
  switch (node.kind) {
    case 'json':
      return blankEntry(node, budget);
    case 'many':
      return { kind: 'many', texts: sent.get(fieldNames.value(slot)) ?? [] };
    case 'object':
      return decodeObject(sent, node, slot, budget);
    case 'array':
      return { kind: 'array', items: decodeItems(sent, node, slot, budget) };
    case 'shapes':
      return decodeShape(sent, node, slot, budget);
    default:
      return { kind: 'text', text: readText(sent, slot) };
  }
}

function readText(sent: SentFields, slot: string): string {
  const read = (name: string) => sent.get(name)?.[0] ?? '';
  return toLines(read(fieldNames.lines(slot)) || read(fieldNames.value(slot)));
}

function pay(budget: Budget, cost: number): void {
  if (budget.spend(cost)) return;
  throw new Invalid(`the form has more than about ${maxEntries} parts: write its long lists and objects as JSON`);
}

function decodeObject(sent: SentFields, node: ObjectNode, slot: string, budget: Budget): Entry {
  const { row } = node;
  const count = row ? countOf(sent, slot) : 0;
  pay(budget, costOfAll(node.members) + (row ? costOf(row) * count : 0));
  const members = node.members.map((member) => [
    member.name,
    decodeEntry(sent, member, slots.member(slot, member.name), budget),
  ]);
  const rows = Array.from({ length: count }, (_, index): Row[] => {
    const place = slots.row(slot, index);
    const key = sent.get(fieldNames.key(place))?.[0] ?? '';
    return row ? [{ key, entry: decodeEntry(sent, row, place, budget) }] : [];
  });
  return { kind: 'object', members: Object.fromEntries(members), rows: rows.flat() };
}

function decodeItems(sent: SentFields, node: ArrayNode, slot: string, budget: Budget): Entry[] {
  const count = Math.max(node.first.length, countOf(sent, slot));
  const nodes = Array.from({ length: count }, (_, index) => itemNode(node, index) ?? []).flat();
  pay(budget, costOfAll(nodes));
  return nodes.map((item, index) => decodeEntry(sent, item, slots.item(slot, index), budget));
}

function countOf(sent: SentFields, slot: string): number {
  const count = Number(sent.get(fieldNames.count(slot))?.[0] ?? 0);
  return Number.isInteger(count) ? Math.min(Math.max(count, 0), maxFormItems) : 0;
}

/** Reads the chosen shape. If the form showed another one, fields that both have keep their values. */
function decodeShape(sent: SentFields, node: ShapesNode, slot: string, budget: Budget): Entry {
  const shape = indexIn(node, sent.get(fieldNames.shape(slot))?.[0]);
  const chosen = shape === null ? undefined : node.shapes[shape];
  if (shape === null || !chosen) return { kind: 'shapes', shape: null, entry: null };
  pay(budget, costOf(chosen));
  const shown = indexIn(node, sent.get(fieldNames.shown(slot))?.[0]);
  const before = shown === null ? undefined : node.shapes[shown];
  if (shown === null || shown === shape || !before)
    return { kind: 'shapes', shape, entry: decodeEntry(sent, chosen, slots.shape(slot, shape), budget) };
  pay(budget, costOf(before));
  const value = readEntry(before, decodeEntry(sent, before, slots.shape(slot, shown), budget), '').value;
  return { kind: 'shapes', shape, entry: takeOver(chosen, value, budget) };
}

function takeOver(node: Node, value: JsonValue | undefined, budget: Budget): Entry {
  if (node.kind !== 'object' || !isObject(value)) return blankEntry(node, budget);
  const common = Object.entries(value).filter(([name]) =>
    node.members.some((member) => member.name === name && member.kind !== 'fixed'),
  );
  if (common.length === 0) return blankEntry(node, budget);
  const entry = entryOf(node, Object.fromEntries(common), budget);
  return entry.kind === 'json' ? blankEntry(node, budget) : entry;
}

function indexIn({ shapes }: ShapesNode, text: string | undefined): number | null {
  return text !== undefined && /^\d{1,3}$/.test(text) && Number(text) < shapes.length ? Number(text) : null;
}
