import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument, visit, type YAMLMap } from 'yaml';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { DraftUnreadable, type ParsedDraft } from './draft.ts';
import { refuseName, refuseNumber } from './refusals.ts';
import { Lines } from './source-position.ts';

/** How often anchors may be used. Aliases of aliases multiply, which is how a short text becomes a huge value. */
const mostAliases = 1_000;

const options = {
  version: '1.2',
  schema: 'core',
  strict: true,
  // `refuseName` finds duplicates with their positions.
  uniqueKeys: false,
  stringKeys: true,
  merge: false,
  resolveKnownTags: false,
  prettyErrors: false,
} as const;

/** @throws DraftUnreadable; RangeError if the text is nested too deeply */
export function readYaml(source: string): ParsedDraft {
  const lines = new Lines(source);
  const document = parseDocument(source, options);
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new DraftUnreadable(describeFault(fault), lines.at(fault.pos[0]));
  refuseUnclear(document, lines);
  return {
    value: toValue(document),
    lineOf: (path) => {
      const offset = offsetOf(document, splitPointer(path));
      return offset === null ? null : lines.at(offset).line;
    },
  };
}

function describeFault({ code, message }: { code: string; message: string }): string {
  if (code === 'TAG_RESOLVE_FAILED') return 'tags such as "!secret" have no meaning here: write the value itself';
  if (code === 'MULTIPLE_DOCS') return 'the text holds several documents: a spec is one';
  if (code === 'NON_STRING_KEY') return 'names must be texts';
  // The parser reports its own overflow as a fault of the text.
  return /call stack/.test(message) ? 'the spec is nested too deeply' : message;
}

function refuseUnclear(document: Document.Parsed, lines: Lines): void {
  const anchors = new Set<string>();
  visit(document, {
    Node(_key, node) {
      const position = lines.at(node.range?.[0] ?? 0);
      if (isAlias(node)) return refuseUnknownAnchor(node.source, anchors, position);
      if (node.anchor) anchors.add(node.anchor);
      if (isMap(node)) refuseNames(node, lines);
      if (isScalar(node) && typeof node.value === 'number') refuseNumber(node.value, node.source ?? '', position);
    },
  });
}

function refuseUnknownAnchor(name: string, anchors: ReadonlySet<string>, position: ReturnType<Lines['at']>): void {
  if (!anchors.has(name)) throw new DraftUnreadable(`there is no anchor "&${name}" before this alias`, position);
}

function refuseNames(map: YAMLMap, lines: Lines): void {
  const names = new Set<string>();
  for (const { key } of map.items) {
    if (isScalar(key)) refuseName(String(key.value), names, lines.at(key.range?.[0] ?? 0));
  }
}

function toValue(document: Document.Parsed): ParsedDraft['value'] {
  try {
    return document.toJS({ maxAliasCount: mostAliases });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new DraftUnreadable('aliases repeat too much: write the values out', {
      line: 1,
      column: 1,
    });
  }
}

function offsetOf(document: Document.Parsed, path: readonly string[]): number | null {
  let node: Node | null | undefined = document.contents;
  let offset = node?.range?.[0] ?? null;
  for (const part of path) {
    const next = memberOf(isAlias(node) ? node.resolve(document) : node, part);
    if (!next) break;
    offset = next.offset ?? offset;
    node = next.value;
  }
  return offset;
}

function memberOf(node: unknown, part: string): { value: Node | null; offset: number | undefined } | undefined {
  if (isSeq<Node>(node)) {
    const item = node.items[Number(part)];
    return item && { value: item, offset: item.range?.[0] };
  }
  if (!isMap<Node, Node>(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
  return pair && { value: pair.value, offset: pair.key.range?.[0] };
}
