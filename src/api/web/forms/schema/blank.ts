import type { Budget } from './budget.ts';
import { costOf, costOfAll } from './cost.ts';
import type { Entry } from './entry.ts';
import type { ArrayNode, Node, ObjectNode } from './plan/node.ts';

const blankJson: Entry = { kind: 'json', text: '' };

/** The empty entry for a part of a form. It is JSON if the parts inside it would exceed the budget. */
export function blankEntry(node: Node, budget: Budget): Entry {
  switch (node.kind) {
    case 'json':
      return blankJson;
    case 'many':
      return { kind: 'many', texts: [] };
    case 'object':
      return blankObject(node, budget);
    case 'array':
      return blankArray(node, budget);
    case 'shapes':
      return { kind: 'shapes', shape: null, entry: null };
    default:
      return { kind: 'text', text: '' };
  }
}

const maxBlank = 3;

/** A list that must not be empty starts with the minimum number of items. */
function blankArray(node: ArrayNode, budget: Budget): Entry {
  const min = node.isRequired && typeof node.schema['minItems'] === 'number' ? node.schema['minItems'] : 0;
  const { first, item } = node;
  const more = item ? Math.max(0, Math.min(min, maxBlank) - first.length) : 0;
  if (!budget.spend(costOfAll(first) + (item ? costOf(item) * more : 0))) return blankJson;
  const nodes = [...first, ...(item ? Array.from({ length: more }, () => item) : [])];
  return { kind: 'array', items: nodes.map((each) => blankEntry(each, budget)) };
}

function blankObject(node: ObjectNode, budget: Budget): Entry {
  if (!budget.spend(costOfAll(node.members))) return blankJson;
  const members = node.members.map((member) => [member.name, blankEntry(member, budget)]);
  return { kind: 'object', members: Object.fromEntries(members), rows: [] };
}
