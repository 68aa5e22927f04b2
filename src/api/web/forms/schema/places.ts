import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { toPlainWords } from '../../plain-words.ts';
import { toSentence } from '../../text.ts';
import { type Entry, itemNode } from './entry.ts';
import { isComposite, type Node } from './plan/node.ts';
import { fieldNames, groupId, idOf, slots } from './slots.ts';
import type { ValueProblem } from './value.ts';

/** A part of a form, as it is shown. */
interface Place {
  readonly slot: string;
  /** The place of the value, as a JSON pointer into what the form sends. */
  readonly pointer: string;
  /** The name that the visitor sees, such as `network / cidr`. */
  readonly label: string;
  /** The id of the control or the group. */
  readonly target: string;
  /** The value is selected, not typed. */
  readonly isChosen: boolean;
}

/** The messages by slot, and as a list for the summary. */
export interface PlacedProblems {
  readonly bySlot: ReadonlyMap<string, string>;
  readonly listed: readonly { readonly target: string; readonly label: string; readonly message: string }[];
  /** Messages that belong to no part of the form. */
  readonly others: readonly string[];
}

/** Finds for each problem the part of the form that it belongs to, or the closest one around it. */
export function placeProblems(node: Node, entry: Entry, problems: readonly ValueProblem[]): PlacedProblems {
  const places = new Map<string, Place>();
  for (const place of placesIn(node, entry, { slot: '', pointer: '', label: '' })) places.set(place.pointer, place);
  const bySlot = new Map<string, string>();
  const listed: PlacedProblems['listed'][number][] = [];
  const others: string[] = [];
  for (const { pointer, message } of problems) {
    const place = closest(places, pointer);
    const rest = place ? pointer.slice(place.pointer.length) : pointer;
    const words = toPlainWords(message);
    const own = place?.isChosen ? words.replace(/^enter a value/, 'choose a value') : words;
    const text = toSentence(rest === '' ? own : `${rest.slice(1)} ${words}`);
    if (!place || place.slot === '') others.push(text);
    else {
      bySlot.set(place.slot, [bySlot.get(place.slot), text].filter(Boolean).join(' '));
      listed.push({ target: place.target, label: place.label, message: text });
    }
  }
  return { bySlot, listed, others };
}

function closest(places: ReadonlyMap<string, Place>, pointer: string): Place | undefined {
  for (let end = pointer.length; end >= 0; end = pointer.lastIndexOf('/', end - 1)) {
    const found = places.get(pointer.slice(0, end));
    if (found || end === 0) return found;
  }
  return undefined;
}

function* placesIn(node: Node, entry: Entry, place: Omit<Place, 'target' | 'isChosen'>): Generator<Place> {
  const isChosen = node.kind === 'options' || node.kind === 'many' || node.kind === 'shapes';
  yield { ...place, target: targetOf(node, entry, place.slot), isChosen: isChosen && entry.kind !== 'json' };
  const { slot, pointer, label } = place;
  const inside = ({ name, title = '' }: { name: string; title?: string }, at: string) => ({
    slot: at,
    pointer: `${pointer}/${escapePointer(name)}`,
    label: [label, title || name].filter(Boolean).join(' / '),
  });
  if (node.kind === 'object' && entry.kind === 'object') {
    for (const member of node.members) {
      const now = entry.members[member.name];
      if (now) yield* placesIn(member, now, inside(member, slots.member(slot, member.name)));
    }
    for (const [index, { key, entry: now }] of entry.rows.entries())
      if (node.row) yield* placesIn(node.row, now, inside({ name: key }, slots.row(slot, index)));
  }
  if (node.kind === 'array' && entry.kind === 'array') {
    for (const [index, item] of entry.items.entries()) {
      const at = { slot: slots.item(slot, index), pointer: `${pointer}/${index}`, label: `${label} ${index + 1}` };
      yield* placesIn(itemNode(node, index) ?? node, item, at);
    }
  }
  const shape = node.kind === 'shapes' && entry.kind === 'shapes' ? entry.shape : null;
  if (shape === null || node.kind !== 'shapes' || entry.kind !== 'shapes' || !entry.entry) return;
  const chosen = node.shapes[shape];
  if (chosen) yield* placesIn(chosen, entry.entry, { ...place, slot: slots.shape(slot, shape) });
}

function targetOf(node: Node, entry: Entry, slot: string): string {
  if (entry.kind === 'json') return idOf(fieldNames.json(slot));
  return isComposite(node) ? groupId(slot) : idOf(fieldNames.value(slot));
}
