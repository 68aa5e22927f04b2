import type { JsonValue } from '#domain/shared/values/json.ts';
import { blankEntry } from './blank.ts';
import type { Budget } from './budget.ts';
import { costOf, costOfAll } from './cost.ts';
import { type Entry, itemNode, maxFormItems } from './entry.ts';
import type { ArrayNode, Node, ObjectNode, ShapesNode } from './plan/node.ts';
import { isObject } from './plan/resolve.ts';

/** Fills a part of a form from a value. A value that the form cannot show, or that exceeds the budget, is written as JSON. */
export function entryOf(node: Node, value: JsonValue | undefined, budget: Budget): Entry {
  if (value === undefined) return blankEntry(node, budget);
  return fill(node, value, budget) ?? { kind: 'json', text: JSON.stringify(value, null, 2) };
}

/** Fills the node from a value; null if the form cannot show it. */
function fill(node: Node, value: JsonValue, budget: Budget): Entry | null {
  if (!canShow(node, value)) return null;
  switch (node.kind) {
    case 'fixed':
      return { kind: 'text', text: '' };
    case 'options':
      return { kind: 'text', text: JSON.stringify(value) };
    case 'many':
      return { kind: 'many', texts: (value as JsonValue[]).map((each) => JSON.stringify(each)) };
    case 'object':
      return fillObject(node, value as Record<string, JsonValue>, budget);
    case 'array':
      return fillArray(node, value as JsonValue[], budget);
    case 'shapes':
      return fillShapes(node, value, budget);
    default:
      return { kind: 'text', text: String(value) };
  }
}

/** Whether the form of a node can show a value. It does not look at the parts of the value. */
function canShow(node: Node, value: JsonValue): boolean {
  switch (node.kind) {
    case 'text':
      // Browsers convert all line breaks, so a text with CR would change.
      return typeof value === 'string' && value !== '' && !value.includes('\r');
    case 'number':
      return typeof value === 'number';
    case 'fixed':
      return isSame(node.value, value);
    case 'options':
      return isOption(node, value);
    case 'many':
      return Array.isArray(value) && value.length > 0 && value.every((each) => isOption(node, each));
    case 'object':
      return isObject(value) && canShowMembers(node, value);
    case 'array':
      return Array.isArray(value) && canShowItems(node, value);
    case 'shapes':
      return node.shapes.some((each) => fits(each, value));
    default:
      return false;
  }
}

function othersIn(node: ObjectNode, value: Readonly<Record<string, JsonValue>>): [string, JsonValue][] {
  const known = new Set(node.members.map(({ name }) => name));
  return Object.entries(value).filter(([name]) => !known.has(name));
}

function canShowMembers(node: ObjectNode, value: Readonly<Record<string, JsonValue>>): boolean {
  const others = othersIn(node, value);
  const isBare = Object.keys(value).length === 0 && !node.isRequired;
  // The form treats an empty name as one that is still missing.
  const isNamed = others.every(([name]) => name !== '');
  return !isBare && isNamed && others.length <= maxFormItems && (others.length === 0 || node.row !== null);
}

function canShowItems(node: ArrayNode, value: readonly JsonValue[]): boolean {
  const isBare = value.length === 0 && !node.isRequired;
  const max = node.item ? Math.max(maxFormItems, node.first.length) : node.first.length;
  return !isBare && value.length <= max;
}

function fillObject(node: ObjectNode, value: Readonly<Record<string, JsonValue>>, budget: Budget): Entry | null {
  const { row } = node;
  const others = row ? othersIn(node, value) : [];
  if (!budget.spend(costOfAll(node.members) + (row ? costOf(row) * others.length : 0))) return null;
  const rows = row ? others.map(([key, each]) => ({ key, entry: entryOf(row, each, budget) })) : [];
  const members = node.members.map((member) => [member.name, entryOf(member, value[member.name], budget)]);
  return { kind: 'object', members: Object.fromEntries(members), rows };
}

function fillArray(node: ArrayNode, value: readonly JsonValue[], budget: Budget): Entry | null {
  const nodes = value.flatMap((_, index) => itemNode(node, index) ?? []);
  if (!budget.spend(costOfAll(nodes))) return null;
  return { kind: 'array', items: nodes.map((item, index) => entryOf(item, value[index], budget)) };
}

/** The first shape that matches the outline of the value. */
function fillShapes(node: ShapesNode, value: JsonValue, budget: Budget): Entry | null {
  const shape = node.shapes.findIndex((each) => fits(each, value));
  const found = node.shapes[shape];
  if (!found || !budget.spend(costOf(found))) return null;
  return { kind: 'shapes', shape, entry: entryOf(found, value, budget) };
}

function fits(node: Node, value: JsonValue): boolean {
  if (node.kind === 'json') return true;
  if (!canShow(node, value)) return false;
  if (node.kind !== 'object' || !isObject(value)) return true;
  return node.members.every((member) => {
    const isGiven = Object.hasOwn(value, member.name);
    if (!isGiven) return !member.isRequired;
    return (member.kind !== 'fixed' && member.kind !== 'options') || canShow(member, value[member.name] ?? null);
  });
}

function isOption({ options }: Extract<Node, { kind: 'options' | 'many' }>, value: JsonValue): boolean {
  return options.some((option) => isSame(option.value, value));
}

function isSame(one: JsonValue, other: JsonValue): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
