import { type Node, parseTree } from 'jsonc-parser';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';
import { DraftUnreadable, maxDepth, type ParsedDraft, tooDeep } from './draft.ts';
import { refuseName, refuseNumber } from './refusals.ts';
import { Lines } from './source-position.ts';

/** Parses JSON, which the YAML parser could read too, but far more slowly. Null if the text is not JSON. */
export function readJson(source: string): ParsedDraft | null {
  if (!/^\s*\{/.test(source) || !isJson(source)) return null;
  const lines = new Lines(source);
  if (isDeep(source)) throw new DraftUnreadable(tooDeep, { line: 1, column: 1 });
  const root = parseTree(source);
  if (!root) return null;
  refuseUnclear(root, source, lines);
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
    if (depth > maxDepth) return true;
  }
  return false;
}

/**
 * Refuses repeated names in an object, because JSON readers disagree about which one counts, and large integers, because readers round
 * them.
 */
function refuseUnclear(node: Node, source: string, lines: Lines): void {
  const { offset, length } = node;
  if (node.type === 'number') refuseNumber(node.value, source.slice(offset, offset + length), lines.at(offset));
  const names = new Set<string>();
  for (const child of node.children ?? []) {
    if (child.type === 'property') {
      const [name] = child.children ?? [];
      if (name) refuseName(String(name.value), names, lines.at(name.offset));
    }
    refuseUnclear(child, source, lines);
  }
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
