import { keepsDigits } from '#domain/shared/values/decimal.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { describeJsonProblem, maxDigits, parseStrictJson } from '#domain/shared/values/strict-json.ts';
import { type Entry, itemNode } from './entry.ts';
import type { ArrayNode, Node, ObjectNode } from './plan/node.ts';

/** A problem with one value. `pointer` is its JSON pointer, as in the service's own errors. */
export interface ValueProblem {
  readonly pointer: string;
  readonly message: string;
}

/** The value that was entered; undefined if none was. The problems are those that keep the value from being sent to the service. */
export interface Entered {
  readonly value: JsonValue | undefined;
  readonly problems: readonly ValueProblem[];
}

const left: Entered = { value: undefined, problems: [] };

function entered(value: JsonValue | undefined, problems: readonly ValueProblem[] = []): Entered {
  return { value, problems };
}

/** What to do about an empty value that cannot be left out, by the reason why it cannot. */
const remedies = {
  item: 'enter a value, or remove the item',
  entry: 'enter a value, or remove the entry',
  /** An item that every value of the list must have. */
  first: 'enter a value',
} as const;

type Kept = keyof typeof remedies;

/**
 * Reads the value that was entered. Empty fields are left out, so that defaults apply. The service validates the value. Problems here are
 * only unreadable values, and empty ones that cannot be left out: an empty field never means an empty text, which can be written as JSON.
 */
export function readEntry(node: Node, entry: Entry, pointer: string, kept: Kept | null = null): Entered {
  const empty = kept === null ? left : entered('', [{ pointer, message: remedies[kept] }]);
  if (entry.kind === 'json') return readJson(entry.text, pointer, empty);
  if (node.kind === 'fixed') return entered(node.value);
  if (entry.kind === 'text') {
    if (entry.text === '') return empty;
    if (node.kind === 'number') return readNumber(entry.text, pointer);
    return entered(node.kind === 'options' ? readOption(entry.text) : entry.text);
  }
  if (entry.kind === 'many') {
    return entry.texts.length > 0 || node.isRequired ? entered(entry.texts.map(readOption)) : left;
  }
  if (entry.kind === 'shapes') return readShape(node, entry, { pointer, kept, empty });
  const isNeeded = kept !== null || node.isRequired;
  if (entry.kind === 'array' && node.kind === 'array') return readArray(node, entry, pointer, isNeeded);
  if (entry.kind === 'object' && node.kind === 'object') return readObject(node, entry, pointer, isNeeded);
  return left;
}

interface Place {
  readonly pointer: string;
  readonly kept: Kept | null;
  readonly empty: Entered;
}

function readShape(node: Node, entry: Extract<Entry, { kind: 'shapes' }>, { pointer, kept, empty }: Place): Entered {
  const shape = node.kind === 'shapes' && entry.shape !== null ? node.shapes[entry.shape] : undefined;
  return shape && entry.entry ? readEntry(shape, entry.entry, pointer, kept) : empty;
}

function readArray(
  node: ArrayNode,
  { items }: Extract<Entry, { kind: 'array' }>,
  pointer: string,
  isNeeded: boolean,
): Entered {
  const read = items.map((item, index) => {
    const kept = index < node.first.length ? 'first' : 'item';
    return readEntry(itemNode(node, index) ?? node, item, `${pointer}/${index}`, kept);
  });
  const isBlank = node.first.length > 0 && read.length <= node.first.length && read.every(({ value }) => value === '');
  if ((items.length === 0 || isBlank) && !isNeeded) return left;
  return entered(
    read.map(({ value }) => value ?? null),
    read.flatMap(({ problems }) => problems),
  );
}

function readObject(
  node: ObjectNode,
  { members, rows }: Extract<Entry, { kind: 'object' }>,
  pointer: string,
  isNeeded: boolean,
): Entered {
  const problems: ValueProblem[] = [];
  const values = new Map<string, JsonValue>();
  let isBlank = rows.length === 0;
  const read = (each: Node, name: string, entry: Entry, kept: Kept | null) => {
    const found = readEntry(each, entry, `${pointer}/${escapePointer(name)}`, kept);
    problems.push(...found.problems);
    if (found.value === undefined && found.problems.length === 0) return;
    if (each.kind !== 'fixed') isBlank = false;
    values.set(name, found.value ?? null);
  };
  for (const member of node.members) {
    const entry = members[member.name];
    if (entry) read(member, member.name, entry, null);
  }
  for (const { key, entry } of rows) {
    if (key === '') problems.push({ pointer: `${pointer}/`, message: 'enter a name, or remove the entry' });
    else if (values.has(key)) problems.push({ pointer: `${pointer}/${escapePointer(key)}`, message: 'is named twice' });
    else if (node.row) read(node.row, key, entry, 'entry');
  }
  if (isBlank && !isNeeded && problems.length === 0) return left;
  return entered(Object.fromEntries(values), problems);
}

const decimal = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** Reads a number. Any other text is sent as it is, and the service says what it should be. */
function readNumber(text: string, pointer: string): Entered {
  const trimmed = text.trim();
  const number = Number(trimmed);
  if (!decimal.test(trimmed) || !Number.isFinite(number)) return entered(text);
  if (Number.isInteger(number) && !Number.isSafeInteger(number))
    return entered(undefined, [{ pointer, message: `must lie between ±${Number.MAX_SAFE_INTEGER}` }]);
  if (!keepsDigits(trimmed.replace('+', '')))
    return entered(undefined, [{ pointer, message: `must have at most ${maxDigits} digits` }]);
  return entered(number);
}

/** Reads a choice, which is sent as JSON. The service checks whether it is one of the options. */
function readOption(text: string): JsonValue {
  const parsed = parseStrictJson(text);
  return parsed.ok ? (parsed.value as JsonValue) : text;
}

function readJson(text: string, pointer: string, empty: Entered): Entered {
  if (text.trim() === '') return empty;
  const parsed = parseStrictJson(text);
  if (parsed.ok) return entered(parsed.value as JsonValue);
  return entered(undefined, [{ pointer, message: describeJsonProblem(parsed.problem) }]);
}
