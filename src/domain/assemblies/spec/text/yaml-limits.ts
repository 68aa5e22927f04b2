import { type Alias, type Document, isAlias, isCollection, isPair, isScalar, Lexer } from 'yaml';
import { DraftUnreadable } from './draft.ts';
import type { Lines } from './source-position.ts';

/** How many anchors and aliases a text may have together. The parser compares each of them with each other one. */
const maxReferences = 1_000;
/** How many values a text may have, with what its aliases repeat. Aliases of aliases multiply, which is how a short text becomes a huge value. */
export const maxValues = 100_000;
/** Each value may have a name, and a sign before it. */
const maxParts = 3 * maxValues;

/**
 * Refuses a text that would take the parser many seconds. It reads the text once, without building anything.
 * @throws DraftUnreadable
 */
export function refuseLarge(source: string, lines: Lines): void {
  let offset = 0;
  let parts = 0;
  let references = 0;
  let before = '';
  for (const part of new Lexer().lex(source)) {
    const isScalar = before === startOfScalar;
    if (!isScalar && /^[*&]/.test(part)) references++;
    if (isScalar || /^["'?-]/.test(part)) parts++;
    if (references > maxReferences)
      throw new DraftUnreadable(
        `more than ${maxReferences} anchors and aliases: write the values out`,
        lines.at(offset),
      );
    if (parts > maxParts) throw new DraftUnreadable(`the spec has more than ${maxValues} values`, lines.at(offset));
    if (!markers.has(part)) offset += part.length;
    before = part;
  }
}

/** Signs of the lexer that are not in the text. */
const startOfScalar = '\u{1f}';
const markers = new Set([startOfScalar, '\u{2}', '\u{18}']);

/**
 * Refuses aliases without an anchor before them, those that stand in what they repeat, and those that repeat too much.
 * @throws DraftUnreadable; RangeError if the text is nested too deeply
 */
export function refuseRepetition({ contents }: Document.Parsed, lines: Lines): void {
  /** How many values each anchor names, with what its aliases repeat; null while they are counted. */
  const sizes = new Map<string, number | null>();
  const count = (node: unknown): number => {
    if (isPair(node)) return count(node.key) + count(node.value);
    if (isAlias(node)) return sizeOfAlias(node, sizes, lines);
    if (!isScalar(node) && !isCollection(node)) return 0;
    if (node.anchor) sizes.set(node.anchor, null);
    let size = 1;
    if (isCollection(node)) for (const item of node.items) size += count(item);
    if (node.anchor) sizes.set(node.anchor, size);
    return size;
  };
  if (count(contents) > 2 * maxValues)
    throw new DraftUnreadable('aliases repeat too much: write the values out', { line: 1, column: 1 });
}

function sizeOfAlias({ source, range }: Alias, sizes: ReadonlyMap<string, number | null>, lines: Lines): number {
  const position = lines.at(range?.[0] ?? 0);
  const size = sizes.get(source);
  if (size === undefined) throw new DraftUnreadable(`there is no anchor "&${source}" before this alias`, position);
  if (size === null) throw new DraftUnreadable(`the alias "*${source}" stands in what it repeats`, position);
  return size;
}
