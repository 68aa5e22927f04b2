import { isDeepStrictEqual } from 'node:util';
import { Decimal } from '../decimal.ts';
import { parseExactJson, UnreadableJson } from '../exact-json.ts';
import type { JsonValue } from '../json.ts';
import { hideTheSame, isPlainObject, type JsonObject, type Side } from './marks.ts';
import { matchItems } from './match-items.ts';
import { nestingOf } from './nesting.ts';
import { insideText, item, member, type Place } from './paths.ts';

/** A value that differs, or one that is completely equal on both sides. */
export interface Compared extends Place {
  /** Undefined: this side does not have the value. */
  readonly before: Side;
  readonly after: Side;
  readonly isSame: boolean;
  /** The kind of difference if it is not the value itself, such as the order of a list. */
  readonly note?: string;
}

/**
 * The remaining budget of a comparison. When it is used up, whole values are compared instead of their parts. Each cost is charged before
 * its comparison, because the author of the values may want it to be expensive.
 */
export interface Effort {
  left: number;
  /** How many characters of values may still be output. */
  characters: number;
  /** The end of the comparison by path, in milliseconds as `performance.now()` counts them. */
  readonly until: number;
}

/** The budget for comparing all values of one page or answer. */
export function newEffort(values = 150_000, milliseconds = 400, characters = 2_000_000): Effort {
  return { left: values, characters, until: performance.now() + milliseconds };
}

export function isSpent({ left, until }: Effort): boolean {
  return left <= 0 || performance.now() > until;
}

/** Values that are nested deeper are compared as a whole. */
const maxDepth = 60;
/** A text with more characters is compared as a text, even if it is JSON. */
const maxJsonText = 200_000;
/** How many values tested for equality, or characters parsed, cost as much as one value compared by path. */
const equalPerValue = 100;
const parsedPerValue = 100;

/** Compares two values by path. Yields maximal parts that stay and minimal parts that differ. */
export function* compare(before: Side, after: Side, place: Place, effort: Effort, depth = 0): Generator<Compared> {
  const size = sizeOf(before) + sizeOf(after);
  effort.left -= 1 + size / equalPerValue;
  if (isSame(before, after)) return yield { ...place, before, after, isSame: true };
  if (depth < maxDepth && !isSpent(effort)) {
    if (isPlainObject(before) && isPlainObject(after) && isAffordable(before, after, effort))
      return yield* compareObjects(before, after, place, effort, depth + 1);
    // Matching may examine the whole content of the items, so their full size must fit the budget.
    if (Array.isArray(before) && Array.isArray(after) && size <= effort.left)
      return yield* compareLists(before, after, place, effort, depth + 1);
    const texts = parseTexts(before, after, effort);
    if (texts) return yield* compareTexts(texts, { ...place, before, after, isSame: false }, effort, depth + 1);
  }
  yield { ...place, before, after, isSame: false };
}

/** Each member is charged when it is compared, so only the number of members is checked here. */
function isAffordable(before: JsonObject, after: JsonObject, { left }: Effort): boolean {
  return Math.max(Object.keys(before).length, Object.keys(after).length) <= Math.ceil(left);
}

const known = new WeakMap<object, number>();

/** The number of values within a value, including itself. */
function sizeOf(value: Side): number {
  if (typeof value !== 'object' || value === null || value instanceof Decimal) return 1;
  const size = known.get(value) ?? countIn(value);
  known.set(value, size);
  return size;
}

function countIn(value: JsonValue[] | JsonObject): number {
  let size = 1;
  if (Array.isArray(value)) for (const each of value) size += sizeOf(each);
  else for (const name of Object.keys(value)) size += sizeOf(value[name]);
  return size;
}

/** Two marks can be equal although the values that they replace differ. */
function isSame(before: Side, after: Side): boolean {
  return isDeepStrictEqual(before, after) && hideTheSame(before, after);
}

function* compareObjects(before: JsonObject, after: JsonObject, place: Place, effort: Effort, depth: number) {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)].sort())) {
    yield* compare(own(before, name), own(after, name), member(place, name), effort, depth);
  }
}

function own(object: JsonObject, name: string): Side {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function* compareLists(before: JsonValue[], after: JsonValue[], place: Place, effort: Effort, depth: number) {
  const { pairs, isReordered } = matchItems(before, after);
  if (isReordered) yield { ...place, before, after, isSame: false, note: 'The order of the items changes.' };
  for (const { name, from, to } of pairs) {
    yield* compare(at(before, from), at(after, to), item(place, to ?? from ?? 0, name), effort, depth);
  }
}

function at(list: JsonValue[], index: number | null): Side {
  return index === null ? undefined : list[index];
}

/** Compares two texts that contain JSON, such as policies. */
function* compareTexts(
  [before, after]: [JsonValue, JsonValue],
  texts: Compared,
  effort: Effort,
  depth: number,
): Generator<Compared> {
  if (isDeepStrictEqual(before, after)) return yield { ...texts, note: 'Only the format of the JSON changes.' };
  yield* compare(before, after, insideText(texts), effort, depth);
}

function parseTexts(before: Side, after: Side, effort: Effort): [JsonValue, JsonValue] | null {
  if (typeof before !== 'string' || typeof after !== 'string') return null;
  effort.left -= (before.length + after.length) / parsedPerValue;
  if (isSpent(effort)) return null;
  const values = [parseText(before), parseText(after)] as const;
  return values[0] !== null && values[1] !== null ? [values[0], values[1]] : null;
}

/** Parses a text that contains a JSON object or list; null for any other text. */
export function parseText(text: Side): JsonValue {
  if (typeof text !== 'string' || text.length > maxJsonText || !/^\s*[[{]/.test(text)) return null;
  if (nestingOf(text) > maxDepth) return null;
  try {
    return parseExactJson(text);
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error;
    return null; // It only looks like JSON, so it is a text.
  }
}
