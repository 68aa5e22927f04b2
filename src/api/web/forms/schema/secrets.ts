import { type Entry, itemNode } from './entry.ts';
import { holdsSecret, type Node, type ObjectNode } from './plan/node.ts';
import { slots } from './slots.ts';
import type { VariablesEntry } from './variables.ts';

/** The text that is entered for one secret. */
export type SecretText = Extract<Entry, { kind: 'text' | 'json' }>;

/** Returns the replacement for a secret, by its slot. */
type Change = (text: SecretText, slot: string) => SecretText;

/** The entry of variables, with each secret replaced. */
export function mapSecrets(root: ObjectNode, entry: VariablesEntry, change: Change): VariablesEntry {
  return { ...entry, members: mapMembers(root, entry.members, '', change) };
}

/** The secrets that are entered, by their slots. */
export function secretsIn(root: ObjectNode, entry: VariablesEntry): Map<string, SecretText> {
  const found = new Map<string, SecretText>();
  mapSecrets(root, entry, (text, slot) => {
    if (text.text !== '') found.set(slot, text);
    return text;
  });
  return found;
}

function mapWithin(node: Node, entry: Entry, slot: string, change: Change): Entry {
  if (!holdsSecret(node)) return entry;
  if (entry.kind === 'text' || entry.kind === 'json') return change(entry, slot);
  if (entry.kind === 'object' && node.kind === 'object') {
    const { row } = node;
    const rows = entry.rows.map((each, index) =>
      row ? { ...each, entry: mapWithin(row, each.entry, slots.row(slot, index), change) } : each,
    );
    return { ...entry, members: mapMembers(node, entry.members, slot, change), rows };
  }
  if (entry.kind === 'array' && node.kind === 'array') {
    const items = entry.items.map((each, index) =>
      mapWithin(itemNode(node, index) ?? node, each, slots.item(slot, index), change),
    );
    return { ...entry, items };
  }
  if (entry.kind !== 'shapes' || node.kind !== 'shapes' || entry.shape === null || !entry.entry) return entry;
  const shape = node.shapes[entry.shape];
  return shape ? { ...entry, entry: mapWithin(shape, entry.entry, slots.shape(slot, entry.shape), change) } : entry;
}

type Members = VariablesEntry['members'];

function mapMembers({ members }: ObjectNode, entries: Members, slot: string, change: Change): Members {
  const mapped = members.flatMap((member): [string, Entry][] => {
    const entry = entries[member.name];
    return entry ? [[member.name, mapWithin(member, entry, slots.member(slot, member.name), change)]] : [];
  });
  return { ...entries, ...Object.fromEntries(mapped) };
}
