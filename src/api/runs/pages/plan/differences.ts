import type { Compared, Effort } from '#domain/shared/values/comparison/compare.ts';
import { isWithin, type ValuePath } from '#domain/shared/values/comparison/paths.ts';
import { listValueChanges, type ValueChange } from '#domain/shared/values/comparison/value-changes.ts';
import type { PlannedChange } from './planned-change.ts';

export interface Difference extends ValueChange {
  /** The tool names this value as a cause of the replacement. */
  readonly forcesReplacement: boolean;
}

/** What a plan changes about a resource. */
export interface Differences {
  readonly differences: readonly Difference[];
  /** The unchanged parts, each as large as possible. */
  readonly unchanged: readonly Compared[];
}

/** The kinds of change in which a value may replace another. */
const changing: readonly PlannedChange['kind'][] = ['change', 'replace'];

/** Compares both sides of a planned change by path. */
export function findDifferences(change: PlannedChange, effort: Effort): Differences {
  const { changes, unchanged } = listValueChanges(change.before, change.after, {
    effort,
    isNullMissing: true,
    secrets: { values: change.sensitive ?? [], othersMayChange: changing.includes(change.kind) },
  });
  return {
    differences: changes.map((each) => ({ ...each, forcesReplacement: forces(change, each.path) })),
    unchanged,
  };
}

/**
 * Whether the tool named this path as a cause of the replacement. An empty path means the whole resource, and does not mark single values.
 */
function forces({ kind, replace_paths: paths }: PlannedChange, path: ValuePath): boolean {
  if (kind !== 'replace') return false;
  return (paths ?? []).some((each) => each.length > 0 && isWithin(each, path));
}
