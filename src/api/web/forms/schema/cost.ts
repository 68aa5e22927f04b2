import { Budget, costOfText } from './budget.ts';
import { type Entry, itemNode } from './entry.ts';
import type { Node, ObjectNode } from './plan/node.ts';

/** The maximum number of parts in a form, including all items of its lists. Larger values are written as JSON. */
export const maxEntries = 2000;

const known = new WeakMap<Node, number>();

/** The cost of one more part for a node: one, and more if the part shows long texts or many options. */
export function costOf(node: Node): number {
  const cost = known.get(node) ?? 1 + costOfText(shownLength(node));
  known.set(node, cost);
  return cost;
}

export function costOfAll(nodes: readonly Node[]): number {
  return nodes.reduce((sum, node) => sum + costOf(node), 0);
}

/** The approximate number of characters that a part repeats from the schema. */
function shownLength(node: Node): number {
  const choices = node.kind === 'options' || node.kind === 'many' ? node.options : [];
  const titles = node.kind === 'shapes' ? node.shapes.map(({ title }) => title) : [];
  const { title, description, default: applied, schema } = node;
  const texts = [title, description, applied ?? null, schema['examples'] ?? null, schema['const'] ?? null];
  return JSON.stringify([...texts, choices, titles]).length;
}

/** The cost of the parts inside an entry. The part itself is counted with its siblings. */
export function costInside(node: Node, entry: Entry): number {
  const whole = (each: Node, of: Entry) => costOf(each) + costInside(each, of);
  if (node.kind === 'object' && entry.kind === 'object') {
    const members = node.members.map((each) => whole(each, entry.members[each.name] ?? { kind: 'text', text: '' }));
    const rows = entry.rows.map((each) => (node.row ? whole(node.row, each.entry) : 0));
    return [...members, ...rows].reduce((sum, cost) => sum + cost, 0);
  }
  if (node.kind === 'array' && entry.kind === 'array')
    return entry.items.reduce((sum, item, index) => sum + whole(itemNode(node, index) ?? node, item), 0);
  const shape = node.kind === 'shapes' && entry.kind === 'shapes' ? node.shapes[entry.shape ?? -1] : undefined;
  return shape && entry.kind === 'shapes' && entry.entry ? whole(shape, entry.entry) : 0;
}

/** The budget for the parts inside a form. The variables themselves are always shown. */
export function budgetFor({ members }: ObjectNode, spent = 0): Budget {
  return new Budget(maxEntries - costOfAll(members) - spent);
}
