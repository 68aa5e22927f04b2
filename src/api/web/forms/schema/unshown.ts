import type { JsonValue } from '#domain/shared/values/json.ts';
import { maxFormItems } from './entry.ts';
import type { Node } from './plan/node.ts';
import { isObject } from './plan/resolve.ts';

/** Why the form of a variable cannot show a value that is written as JSON, and what the visitor can do. */
export function explainUnshown(node: Node, value: JsonValue): string {
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
