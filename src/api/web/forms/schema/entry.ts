import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ArrayNode, Node, ObjectNode } from './node.ts';
import { isObject } from './resolve.ts';

/** What is entered into a part of a form, as it was typed: it need not be right. */
export type Entry =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'many'; readonly texts: readonly string[] }
  | { readonly kind: 'object'; readonly members: Readonly<Record<string, Entry>>; readonly rows: readonly Row[] }
  | { readonly kind: 'array'; readonly items: readonly Entry[] }
  | { readonly kind: 'shapes'; readonly shape: number | null; readonly entry: Entry | null }
  | { readonly kind: 'json'; readonly text: string };

export interface Row {
  readonly key: string;
  readonly entry: Entry;
}

/** So many items or rows a form shows; more are written as JSON. */
export const mostItems = 50;

/** The node of an item, by its place. */
export function itemNode(node: Extract<Node, { kind: 'array' }>, index: number): Node | null {
  return node.first[index] ?? node.item;
}

/** A part of a form into which nothing is entered yet. */
export function blankEntry(node: Node): Entry {
  switch (node.kind) {
    case 'json':
      return { kind: 'json', text: '' };
    case 'many':
      return { kind: 'many', texts: [] };
    case 'object':
      return { kind: 'object', members: blankMembers(node), rows: [] };
    case 'array':
      return { kind: 'array', items: blankItems(node) };
    case 'shapes':
      return { kind: 'shapes', shape: null, entry: null };
    default:
      return { kind: 'text', text: '' };
  }
}

/** A list that must not be empty begins with room for its first items. */
function blankItems(node: ArrayNode): Entry[] {
  const least = node.isRequired && typeof node.schema['minItems'] === 'number' ? node.schema['minItems'] : 0;
  const { item } = node;
  const more = item ? Math.max(0, Math.min(least, mostBlank) - node.first.length) : 0;
  return [...node.first.map(blankEntry), ...Array.from({ length: more }, () => (item ? blankEntry(item) : blankText))];
}

const mostBlank = 3;
const blankText: Entry = { kind: 'text', text: '' };

function blankMembers(node: ObjectNode): Record<string, Entry> {
  return Object.fromEntries(node.members.map((member) => [member.name, blankEntry(member)]));
}

/** A part of a form that is filled in from a value. A value that the form cannot show is written as JSON. */
export function entryOf(node: Node, value: JsonValue | undefined): Entry {
  if (value === undefined) return blankEntry(node);
  return fill(node, value) ?? { kind: 'json', text: JSON.stringify(value, null, 2) };
}

/** Null: the form of the node cannot show the value. */
function fill(node: Node, value: JsonValue): Entry | null {
  switch (node.kind) {
    case 'text':
      return typeof value === 'string' && value !== '' ? { kind: 'text', text: value } : null;
    case 'number':
      return typeof value === 'number' ? { kind: 'text', text: String(value) } : null;
    case 'fixed':
      return isSame(node.value, value) ? { kind: 'text', text: '' } : null;
    case 'options':
      return isOption(node, value) ? { kind: 'text', text: JSON.stringify(value) } : null;
    case 'many':
      if (!Array.isArray(value) || value.length === 0 || !value.every((each) => isOption(node, each))) return null;
      return { kind: 'many', texts: value.map((each) => JSON.stringify(each)) };
    case 'object':
      return isObject(value) ? fillObject(node, value) : null;
    case 'array':
      return Array.isArray(value) ? fillArray(node, value) : null;
    case 'shapes':
      return fillShapes(node, value);
    default:
      return null;
  }
}

function fillObject(node: ObjectNode, value: Readonly<Record<string, JsonValue>>): Entry | null {
  const known = new Set(node.members.map(({ name }) => name));
  const others = Object.entries(value).filter(([name]) => !known.has(name));
  const isBare = Object.keys(value).length === 0 && !node.isRequired;
  if (isBare || others.length > mostItems || (others.length > 0 && !node.row)) return null;
  const rows = others.map(([key, each]) => ({ key, entry: node.row ? entryOf(node.row, each) : blankEntry(node) }));
  const members = node.members.map((member) => [member.name, entryOf(member, value[member.name])]);
  return { kind: 'object', members: Object.fromEntries(members), rows };
}

function fillArray(node: Extract<Node, { kind: 'array' }>, value: readonly JsonValue[]): Entry | null {
  const isBare = value.length === 0 && !node.isRequired;
  if (isBare || value.length > Math.max(mostItems, node.first.length)) return null;
  const items: Entry[] = [];
  for (const [index, each] of value.entries()) {
    const item = itemNode(node, index);
    if (!item) return null;
    items.push(entryOf(item, each));
  }
  return { kind: 'array', items };
}

/** The first shape that the value fits, judged by its outline alone. */
function fillShapes(node: Extract<Node, { kind: 'shapes' }>, value: JsonValue): Entry | null {
  const shape = node.shapes.findIndex((each) => fits(each, value));
  const found = node.shapes[shape];
  return found ? { kind: 'shapes', shape, entry: entryOf(found, value) } : null;
}

function fits(node: Node, value: JsonValue): boolean {
  if (node.kind !== 'object') return node.kind === 'json' || fill(node, value) !== null;
  if (!isObject(value)) return false;
  const isMissing = node.members.some((member) => member.isRequired && !Object.hasOwn(value, member.name));
  const isOther = node.members.some(
    (member) =>
      Object.hasOwn(value, member.name) &&
      (member.kind === 'fixed' || member.kind === 'options') &&
      fill(member, value[member.name] ?? null) === null,
  );
  return !isMissing && !isOther && fillObject(node, value) !== null;
}

function isOption({ options }: Extract<Node, { kind: 'options' | 'many' }>, value: JsonValue): boolean {
  return options.some((option) => isSame(option.value, value));
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
