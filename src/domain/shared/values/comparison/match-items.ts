import { Decimal } from '../decimal.ts';
import type { JsonValue } from '../json.ts';
import { isPlainObject } from './marks.ts';

/** An item on both sides, or on one (null on the other), by its position there. */
export interface Pair {
  readonly from: number | null;
  readonly to: number | null;
  /** The label of the item, such as `name="web"`; undefined if only its position identifies it. */
  readonly name?: string;
}

/** The members that can identify the items of a list, in the order of preference. */
const naming = ['name', 'Name', 'id', 'Id', 'ID', 'key', 'Key', 'Sid', 'sid', 'address', 'from_port'];

/**
 * Matches the items of two lists: by the member that identifies them, else by their content, and the rest by their order. So an item that
 * is added at the beginning does not change all later items.
 */
export function matchItems(
  before: readonly JsonValue[],
  after: readonly JsonValue[],
): { pairs: Pair[]; isReordered: boolean } {
  const name = naming.find((each) => names(each, before) && names(each, after));
  const pairs = name === undefined ? matchByContent(before, after) : matchByName(name, before, after);
  return { pairs, isReordered: isReordered(pairs) };
}

/** Whether every item has the member, each with a different value. */
function names(name: string, items: readonly JsonValue[]): boolean {
  const values = new Set<JsonValue>();
  for (const each of items) {
    const value = isPlainObject(each) && Object.hasOwn(each, name) ? each[name] : undefined;
    if ((typeof value !== 'string' && typeof value !== 'number') || values.has(value)) return false;
    values.add(value);
  }
  return true;
}

function matchByName(name: string, before: readonly JsonValue[], after: readonly JsonValue[]): Pair[] {
  const nameOf = (each: JsonValue | undefined) => JSON.stringify(isPlainObject(each) ? each[name] : null);
  const rest = new Map(before.map((each, index) => [nameOf(each), index]));
  const kept = after.map((each, to): Pair => {
    const is = nameOf(each);
    const from = rest.get(is) ?? null;
    rest.delete(is);
    return { from, to, name: `${name}=${is}` };
  });
  return [...kept, ...[...rest].map(([is, from]): Pair => ({ from, to: null, name: `${name}=${is}` }))];
}

function matchByContent(before: readonly JsonValue[], after: readonly JsonValue[]): Pair[] {
  const places = new Map<string, number[]>();
  before.forEach((each, index) => {
    const content = JSON.stringify(each);
    const known = places.get(content);
    if (known) known.push(index);
    else places.set(content, [index]);
  });
  for (const known of places.values()) known.reverse();
  const equal = after.map((each) => places.get(JSON.stringify(each))?.pop() ?? null);
  const taken = new Set(equal);
  const others = before.map((_, index) => index).filter((index) => !taken.has(index));
  // Only objects and lists can change in part. Other values count as one removed and one added.
  const isWhole = [...before, ...after].every(
    (each) => typeof each !== 'object' || each === null || each instanceof Decimal,
  );
  const rest = isWhole ? [] : others;
  let next = 0;
  const pairs = equal.map((from, to): Pair => ({ from: from ?? rest[next++] ?? null, to }));
  const left = isWhole ? others : rest.slice(next);
  const removed = left.map((from): Pair => ({ from, to: null }));
  return isWhole ? [...removed, ...pairs] : [...pairs, ...removed];
}

/** Whether items that both sides have change their order. */
function isReordered(pairs: readonly Pair[]): boolean {
  let last = -1;
  for (const { from, to } of pairs) {
    if (from === null || to === null) continue;
    if (from < last) return true;
    last = from;
  }
  return false;
}
