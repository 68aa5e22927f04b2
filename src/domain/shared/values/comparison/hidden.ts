import { Decimal } from '../decimal.ts';
import type { JsonValue } from '../json.ts';
import type { ValuePath } from './paths.ts';

/** The contents of hidden values, by their marks. */
const contents = new WeakMap<object, string>();

/**
 * Returns a mark of a secret, `{"sensitive": true}`, that `holdSame` can compare by the secret value. All other code sees only the mark.
 */
function hide(value: JsonValue): JsonValue {
  const mark = { sensitive: true };
  contents.set(mark, JSON.stringify(value));
  return mark;
}

export function isHidden(value: unknown): boolean {
  return contentOf(value) !== undefined;
}

/** Whether both are hidden values with the same content. */
export function holdSame(one: unknown, other: unknown): boolean {
  const content = contentOf(one);
  return content !== undefined && content === contentOf(other);
}

function contentOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? contents.get(value) : undefined;
}

/** A path that leads deeper hides the whole value at this depth. */
const maxDepth = 60;

/**
 * Returns the value with the values at some paths hidden. A path that leads into a text or number hides that text or number. A path that
 * leads nowhere has no effect.
 */
export function hideAt(value: JsonValue, paths: readonly ValuePath[], depth = 0): JsonValue {
  if (paths.length === 0 || value === null) return value;
  const isEnd = typeof value !== 'object' || value instanceof Decimal;
  if (isEnd || depth === maxDepth || paths.some((path) => path.length === depth)) return hide(value);
  const inside = groupByStep(paths, depth);
  const hideIn = (key: string, each: JsonValue) => hideAt(each, inside.get(key) ?? [], depth + 1);
  if (Array.isArray(value)) return value.map((each, index) => hideIn(String(index), each));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hideIn(key, each)]));
}

function groupByStep(paths: readonly ValuePath[], depth: number): Map<string, ValuePath[]> {
  const groups = new Map<string, ValuePath[]>();
  for (const path of paths) {
    const step = String(path[depth]);
    const group = groups.get(step);
    if (group) group.push(path);
    else groups.set(step, [path]);
  }
  return groups;
}
