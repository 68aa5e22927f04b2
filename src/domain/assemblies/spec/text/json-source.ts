import { type Node, parseTree } from 'jsonc-parser';
import { splitPointer } from '#domain/registry/variables/walk.ts';
import { DraftUnreadable, type ParsedDraft } from './draft.ts';
import { Lines } from './source-position.ts';

/** Deeper JSON is refused before a parser recurses into it. */
const deepest = 100;

/** Reads JSON, many times faster than as YAML, which it is as well; null if the text is no JSON. */
export function readJson(source: string): ParsedDraft | null {
  if (!/^\s*\{/.test(source) || !isJson(source)) return null;
  const lines = new Lines(source);
  if (isDeep(source)) throw new DraftUnreadable('the spec is nested too deeply', { line: 1, column: 1 });
  const root = parseTree(source);
  if (!root) return null;
  refuseNames(root, lines);
  return {
    value: JSON.parse(source),
    lineOf: (path) => lines.at(offsetOf(root, splitPointer(path))).line,
  };
}

function isJson(source: string): boolean {
  try {
    JSON.parse(source);
    return true;
  } catch {
    return false;
  }
}

function isDeep(source: string): boolean {
  let depth = 0;
  for (const [token] of source.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '[' || token === '{') depth += 1;
    if (token === ']' || token === '}') depth -= 1;
    if (depth > deepest) return true;
  }
  return false;
}

/** JSON lets a name stand twice in an object. Readers disagree about which one counts, so neither does. */
function refuseNames(node: Node, lines: Lines): void {
  const names = new Set<string>();
  for (const child of node.children ?? []) {
    if (child.type === 'property') {
      const [name] = child.children ?? [];
      if (name) refuseName(String(name.value), names, lines.at(name.offset));
    }
    refuseNames(child, lines);
  }
}

/** @throws DraftUnreadable if the object has the name already, or if it is one that the service reserves */
export function refuseName(name: string, names: Set<string>, position: { line: number; column: number }): void {
  if (name === '__proto__') throw new DraftUnreadable('"__proto__" is a name that the service reserves', position);
  if (names.has(name))
    throw new DraftUnreadable(`the name ${JSON.stringify(name)} stands twice in one object`, position);
  names.add(name);
}

function offsetOf(root: Node, path: readonly string[]): number {
  let node = root;
  let offset = root.offset;
  for (const part of path) {
    const children = node.children ?? [];
    const property = children.find((child) => child.type === 'property' && child.children?.[0]?.value === part);
    const next = node.type === 'array' ? children[Number(part)] : property?.children?.[1];
    if (!next) break;
    offset = property?.offset ?? next.offset;
    node = next;
  }
  return offset;
}
