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

/** The value that was entered; undefined if nothing was. The problems are those that no value can carry to the service. */
export interface Entered {
  readonly value: JsonValue | undefined;
  readonly problems: readonly ValueProblem[];
}

const left: Entered = { value: undefined, problems: [] };

function entered(value: JsonValue | undefined, problems: readonly ValueProblem[] = []): Entered {
  return { value, problems };
}

/** Of a value that has a place of its own, so that it cannot be left out: what to do if it is blank. */
const remedies = {
  item: 'enter a value, or remove the item',
  entry: 'enter a value, or remove the entry',
  /** An item that every value of the list has. */
  first: 'enter a value',
} as const;

type Kept = keyof typeof remedies;

/**
 * The value of what was entered. What is empty is left out, so that a default applies. The service checks the value; only what is not
 * even readable is a problem here, and what is blank but cannot be left out: nobody has asked for an empty text. Whoever does writes it as JSON.
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

/** A text that is no number is sent as it is: the service says what it should be. */
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

/** A choice is sent as JSON. Whether it is one of the options is for the service to say. */
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
