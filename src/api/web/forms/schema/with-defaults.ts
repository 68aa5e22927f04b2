import { isJsonObject, type JsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import type { ArrayNode, Node, ObjectNode, ShapesNode } from './plan/node.ts';

/** A value as a run gets it: missing members get the defaults of their schemas, at any depth. */
export function withDefaults(node: Node, value: JsonValue): JsonValue {
  if (node.kind === 'object') return isJsonObject(value) ? fillMembers(node, value) : value;
  if (node.kind === 'array') return Array.isArray(value) ? fillItems(node, value) : value;
  const shape = node.kind === 'shapes' ? findShape(node, value) : undefined;
  return shape ? withDefaults(shape, value) : value;
}

function fillMembers({ members, row }: ObjectNode, value: JsonObject): JsonObject {
  const known = new Map(members.map((member) => [member.name, member]));
  const usual = members.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value] as const]));
  return Object.fromEntries(
    [...new Map([...usual, ...Object.entries(value)])].map(([name, each]) => {
      const node = known.get(name) ?? row;
      return [name, node ? withDefaults(node, each) : each];
    }),
  );
}

function fillItems({ first, item }: ArrayNode, items: readonly JsonValue[]): JsonValue[] {
  return items.map((value, place) => {
    const node = first[place] ?? item;
    return node ? withDefaults(node, value) : value;
  });
}

/** The shape for the type of a value. Defaults in the branches of `oneOf` and `anyOf` are never filled in. */
function findShape({ shapes, schema }: ShapesNode, value: JsonValue): Node | undefined {
  if (!Array.isArray(schema['type'])) return undefined;
  if (Array.isArray(value)) return shapes.find(({ kind }) => kind === 'array');
  return isJsonObject(value) ? shapes.find(({ kind }) => kind === 'object') : undefined;
}
