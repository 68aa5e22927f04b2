import { isSameLeaf, type Leaf, type Leaves } from './leaves.ts';

/** How a run changed one path of the inputs. Undefined: the path did not exist. */
export interface PathChange {
  readonly path: string;
  readonly before: Leaf | undefined;
  readonly after: Leaf | undefined;
}

/** A run's change: the paths whose leaves differ before and after it, sorted by path. */
export function findChanges(before: Leaves, after: Leaves): PathChange[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths]
    .sort()
    .map((path) => ({ path, before: before.get(path), after: after.get(path) }))
    .filter((change) => !isSameLeaf(change.before, change.after));
}

/** Undoes the changes in the leaves. It neither reads nor changes any other path. */
export function takeBack(leaves: Leaves, changes: readonly PathChange[]): Leaves {
  const taken = new Map(leaves);
  for (const { path, before } of changes) {
    if (before === undefined) taken.delete(path);
    else taken.set(path, before);
  }
  return taken;
}
