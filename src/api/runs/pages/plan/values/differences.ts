import type { PlannedChange, ValuePath } from '../planned-change.ts';
import { type Compared, compare, type Effort } from './compare.ts';
import { isSecret, isUnset } from './marks.ts';
import { isWithin, root } from './paths.ts';

export interface Difference extends Compared {
  /** The tool names it as a cause of the replacement. */
  readonly forcesReplacement: boolean;
}

/** What a plan changes about a resource. */
export interface Differences {
  readonly differences: readonly Difference[];
  /** What stays as it is, in parts as large as possible. */
  readonly unchanged: readonly Compared[];
}

/** Compares both sides of a planned change by path. */
export function findDifferences(change: PlannedChange, effort: Effort): Differences {
  const before = change.before ?? (isObject(change.after) ? {} : null);
  const after = change.after ?? (isObject(change.before) ? {} : null);
  const differences: Difference[] = [];
  const unchanged: Compared[] = [];
  for (const compared of compare(before, after, root, effort)) {
    const told = withWhatIsSaid(compared, change);
    if (!told.isSame) differences.push({ ...told, forcesReplacement: forces(change, told.path) });
    else if (!isUnset(told.before)) unchanged.push(told);
  }
  return { differences, unchanged };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The path of a whole resource is empty, and forces nothing at a single value. */
function forces({ kind, replace_paths: paths }: PlannedChange, path: ValuePath): boolean {
  if (kind !== 'replace') return false;
  return (paths ?? []).some((each) => each.length > 0 && isWithin(each, path));
}

/** The kinds of change that give values to what has values. */
const changing: readonly PlannedChange['kind'][] = ['change', 'replace'];

/** Secret values look alike on both sides. Only the plan says whether they change. */
function withWhatIsSaid(compared: Compared, { kind, sensitive }: PlannedChange): Compared {
  const { before, after, path } = compared;
  if (!isSecret(before) && !isSecret(after)) return compared;
  const about = sensitive?.filter((each) => isWithin(each.path, path)) ?? [];
  const changes = about.length === 0 ? null : about.some(({ changed }) => changed);
  if (isSecret(before) && isSecret(after)) {
    if (changes === false || !changing.includes(kind)) return { ...compared, isSame: true };
    const note = changes ? 'sensitive, changed' : 'sensitive: the plan does not say whether it changes';
    return { ...compared, note };
  }
  if (changes === false && !isUnset(before) && !isUnset(after))
    return { ...compared, note: 'only sensitivity changed' };
  return compared;
}
