import { type Alias, type Document, isAlias, isCollection, isPair, isScalar, Lexer, Parser } from 'yaml';
import { DraftUnreadable, maxDepth, tooDeep } from './draft.ts';
import type { Lines } from './source-position.ts';

/** The maximum number of anchors and aliases in a text, since the parser compares each with every other one. */
const maxReferences = 1_000;
/**
 * The maximum number of values in a text, including those that its aliases repeat. Aliases of aliases multiply, so a short text can become
 * a huge value.
 */
export const maxValues = 100_000;
/** The maximum number of tokens: each value may have a name, and a sign before it. */
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

/**
 * Refuses a text that is nested too deeply before anything recurses into it. It only splits the text into tokens, without recursion.
 * @throws DraftUnreadable
 */
export function refuseDeep(source: string, lines: Lines): void {
  const parser = new Parser();
  let offset = 0;
  for (const part of new Lexer().lex(source)) {
    // The generator must be consumed, or the parser does not continue.
    for (const _finished of parser.next(part));
    // The stack contains the document, the open collections, and the current value.
    if (parser.stack.length > maxDepth + 2) throw new DraftUnreadable(tooDeep, lines.at(offset));
    if (!markers.has(part)) offset += part.length;
  }
}

/** Tokens of the lexer that are not part of the text. */
const startOfScalar = '\u{1f}';
const markers = new Set([startOfScalar, '\u{2}', '\u{18}']);

/** The number of values and levels of a node, including those that its aliases repeat. */
interface Extent {
  readonly size: number;
  readonly depth: number;
}

/**
 * Refuses aliases without an earlier anchor, aliases inside the value that they repeat, and aliases that repeat too much or nest too
 * deeply.
 * @throws DraftUnreadable
 */
export function refuseRepetition({ contents }: Document.Parsed, lines: Lines): void {
  /** The extent of the value of each anchor; null while it is measured. */
  const named = new Map<string, Extent | null>();
  const measure = (node: unknown): Extent => {
    if (isPair(node)) return together([measure(node.key), measure(node.value)]);
    if (isAlias(node)) return extentOfAlias(node, named, lines);
    if (!isScalar(node) && !isCollection(node)) return { size: 0, depth: 0 };
    if (node.anchor) named.set(node.anchor, null);
    const inner = together(isCollection(node) ? node.items.map(measure) : []);
    const extent = { size: 1 + inner.size, depth: (isCollection(node) ? 1 : 0) + inner.depth };
    if (node.anchor) named.set(node.anchor, extent);
    return extent;
  };
  const { size, depth } = measure(contents);
  if (size > 2 * maxValues) throw new DraftUnreadable('aliases repeat too much: write the values out', top);
  if (depth > maxDepth) throw new DraftUnreadable(tooDeep, top);
}

const top = { line: 1, column: 1 };

function together(parts: readonly Extent[]): Extent {
  return parts.reduce((all, { size, depth }) => ({ size: all.size + size, depth: Math.max(all.depth, depth) }), {
    size: 0,
    depth: 0,
  });
}

function extentOfAlias({ source, range }: Alias, named: ReadonlyMap<string, Extent | null>, lines: Lines): Extent {
  const position = lines.at(range?.[0] ?? 0);
  const extent = named.get(source);
  if (extent === undefined) throw new DraftUnreadable(`there is no anchor "&${source}" before this alias`, position);
  if (extent === null) throw new DraftUnreadable(`the alias "*${source}" stands in what it repeats`, position);
  return extent;
}
