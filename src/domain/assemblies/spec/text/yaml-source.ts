import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument, visit, type YAMLMap } from 'yaml';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { DraftUnreadable, type ParsedDraft } from './draft.ts';
import { refuseName, refuseNumber } from './refusals.ts';
import { Lines } from './source-position.ts';
import { refuseDeep, refuseLarge, refuseRepetition } from './yaml-limits.ts';

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

/** @throws DraftUnreadable */
export function readYaml(source: string): ParsedDraft {
  const lines = new Lines(source);
  refuseLarge(source, lines);
  refuseDeep(source, lines);
  const document = parseDocument(source, options);
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new DraftUnreadable(describeFault(fault), lines.at(fault.pos[0]));
  const members = new Members(refuseUnclear(document, lines));
  refuseRepetition(document, lines);
  return {
    // The limit is turned off here, because `refuseRepetition` has checked what the aliases repeat.
    value: document.toJS({ maxAliasCount: -1 }),
    lineOf: (path) => {
      const offset = members.offsetOf(document, splitPointer(path));
      return offset === null ? null : lines.at(offset).line;
    },
  };
}

function describeFault({ code, message }: { code: string; message: string }): string {
  if (code === 'TAG_RESOLVE_FAILED') return 'tags such as "!secret" have no meaning here: write the value itself';
  if (code === 'MULTIPLE_DOCS') return 'the text holds several documents: a spec is one';
  if (code === 'NON_STRING_KEY') return 'names must be texts';
  return message;
}

/** Returns the value of each alias. The library would search the whole document for every alias. */
function refuseUnclear(document: Document.Parsed, lines: Lines): ReadonlyMap<Node, Node> {
  const anchors = new Map<string, Node>();
  const anchored = new Map<Node, Node>();
  visit(document, {
    Node(_key, node) {
      const target = isAlias(node) ? anchors.get(node.source) : undefined;
      if (target) anchored.set(node, target);
      if (!isAlias(node) && node.anchor) anchors.set(node.anchor, node);
      if (isMap(node)) refuseNames(node, lines);
      if (isScalar(node) && typeof node.value === 'number')
        refuseNumber(node.value, node.source ?? '', lines.at(node.range?.[0] ?? 0));
    },
  });
  return anchored;
}

function refuseNames(map: YAMLMap, lines: Lines): void {
  const names = new Set<string>();
  for (const { key } of map.items) {
    if (isScalar(key)) refuseName(String(key.value), names, lines.at(key.range?.[0] ?? 0));
  }
}

interface Member {
  readonly value: Node | null;
  readonly offset: number | undefined;
}

/** Finds members by their paths. It reads the names of each map once. */
class Members {
  readonly #anchored: ReadonlyMap<Node, Node>;
  readonly #named = new WeakMap<YAMLMap<Node, Node>, Map<string, Member>>();

  constructor(anchored: ReadonlyMap<Node, Node>) {
    this.#anchored = anchored;
  }

  offsetOf(document: Document.Parsed, path: readonly string[]): number | null {
    let node: Node | null = document.contents;
    let offset = node?.range?.[0] ?? null;
    for (const part of path) {
      const next = this.#memberOf(node && (this.#anchored.get(node) ?? node), part);
      if (!next) break;
      offset = next.offset ?? offset;
      node = next.value;
    }
    return offset;
  }

  #memberOf(node: Node | null, part: string): Member | undefined {
    if (isSeq<Node>(node)) {
      const item = node.items[Number(part)];
      return item && { value: item, offset: item.range?.[0] };
    }
    return isMap<Node, Node>(node) ? this.#namesOf(node).get(part) : undefined;
  }

  #namesOf(map: YAMLMap<Node, Node>): ReadonlyMap<string, Member> {
    const known = this.#named.get(map);
    if (known) return known;
    const named = new Map(
      map.items.flatMap(({ key, value }): [string, Member][] =>
        isScalar(key) ? [[String(key.value), { value, offset: key.range?.[0] }]] : [],
      ),
    );
    this.#named.set(map, named);
    return named;
  }
}
