import { Decimal } from '../decimal.ts';
import type { JsonValue } from '../json.ts';
import type { ValuePath } from './paths.ts';

/** A secret value that can be compared, but not read or printed: to everything else it is the mark of a secret, `{"sensitive": true}`. */
export class HiddenValue {
  readonly sensitive = true;
  readonly #content: string;

  constructor(value: JsonValue) {
    this.#content = JSON.stringify(value);
  }

  equals(other: HiddenValue): boolean {
    return this.#content === other.#content;
  }
}

/** Marks that lead deeper hide the whole value at this depth. */
const deepest = 60;

/** The value, with hidden values at some paths. A path that leads into a text or number hides it, and one that leads nowhere does nothing. */
export function hideAt(value: JsonValue, paths: readonly ValuePath[], depth = 0): JsonValue {
  if (paths.length === 0 || value === null) return value;
  const isEnd = typeof value !== 'object' || value instanceof Decimal;
  if (isEnd || depth === deepest || paths.some((path) => path.length === depth))
    return new HiddenValue(value) as unknown as JsonValue;
  const inside = groupByStep(paths, depth);
  const hide = (key: string, each: JsonValue) => hideAt(each, inside.get(key) ?? [], depth + 1);
  if (Array.isArray(value)) return value.map((each, index) => hide(String(index), each));
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hide(key, each)]));
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
