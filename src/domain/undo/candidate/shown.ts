import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import type { PathChange } from '../change/changes.ts';
import { type Leaf, liesIn, namesOf } from '../change/leaves.ts';
import type { ShownChange } from '../model.ts';

const masked = { sensitive: true } as const satisfies Masked;

/** A change that would be taken back, as people see it: with version numbers instead of ids, and with masked secrets. */
export function showChange(
  { path, before, after }: PathChange,
  { sensitive, versions }: { sensitive: ReadonlySet<string>; versions: ReadonlyMap<string, string> },
): ShownChange {
  const show = (leaf: Leaf): JsonValue => {
    if (liesIn(path, '/environment') || sensitive.has(namesOf(path)[1] ?? '')) return masked;
    if (leaf.kind === 'object') return {};
    return path === '/version' ? (versions.get(String(leaf.value)) ?? null) : leaf.value;
  };
  return { path: shownPath(path, sensitive), ...(after && { from: show(after) }), ...(before && { to: show(before) }) };
}

/** The names of the members of a secret are part of it: they are not shown. */
export function shownPath(path: string, sensitive: ReadonlySet<string>): string {
  const [kind, name] = namesOf(path);
  if (kind !== 'variables' || !sensitive.has(name ?? '')) return path;
  return path.split('/').slice(0, 3).join('/');
}

/** Keeps the last item of each path. */
export function uniqueByPath<Item extends { readonly path: string }>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [item.path, item])).values()];
}
