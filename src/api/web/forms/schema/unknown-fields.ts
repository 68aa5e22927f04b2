import { itemNode, maxFormItems } from './entry.ts';
import type { ArrayNode, Node, ObjectNode } from './plan/node.ts';
import { slots } from './slots.ts';

/** Whether the form of these variables can have a field with this name. An unknown field must be refused, not ignored. */
export function knowsField(root: ObjectNode, name: string): boolean {
  const [, ...parts] = name.split('/');
  return parts.length === 0 || hasPlace(root, parts);
}

/** Whether a node has a value at the place to which a slot leads. */
function hasPlace(node: Node, [part, ...others]: readonly string[]): boolean {
  if (part === undefined) return true;
  return nodesAt(node, `/${part}`).some((inner) => hasPlace(inner, others));
}

function nodesAt(node: Node, slot: string): readonly Node[] {
  switch (node.kind) {
    case 'object':
      return [
        ...node.members.filter(({ name }) => slots.member('', name) === slot),
        ...(node.row && indexOf(slot, slots.row) !== null ? [node.row] : []),
      ];
    case 'array':
      return itemsAt(node, indexOf(slot, slots.item));
    case 'shapes':
      return node.shapes.filter((_, index) => slots.shape('', index) === slot);
    default:
      return [];
  }
}

function itemsAt(node: ArrayNode, index: number | null): readonly Node[] {
  const item = index === null ? null : itemNode(node, index);
  return item === null ? [] : [item];
}

/** The index of a row or an item, from its slot. */
function indexOf(slot: string, toSlot: (slot: string, index: number) => string): number | null {
  const index = Number(/\d{1,3}$/.exec(slot)?.[0] ?? Number.NaN);
  return index < maxFormItems && slot === toSlot('', index) ? index : null;
}
