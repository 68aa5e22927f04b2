import type { VersionedTool } from './model.ts';
import { canBeSatisfied, compareVersions, isInRanges, parseRange, type VersionRange } from './ranges.ts';

/** The bounds of the versions of one tool. Pure. */

/** The sources of the bounds. */
export const boundSources = ['template', 'files', 'environment', 'instance', 'state', 'request'] as const;
export type BoundSource = (typeof boundSources)[number];

/** Which versions of OpenTofu obey a bound: those before 1.12, or 1.12 and newer. */
export type Obeying = 'older' | 'newer';

export interface Bound {
  readonly version: string;
  readonly by: BoundSource;
  /** Undefined: all versions obey it. */
  readonly of?: Obeying;
}

/** From this version on, OpenTofu ignores `required_version` in files that Terraform reads too, because it is then meant for Terraform. */
const ownFilesSince = '1.12.0';

/** Whether a version of a tool obeys a bound. */
export function obeys({ version }: Pick<VersionedTool, 'version'>, { of }: Pick<Bound, 'of'>): boolean {
  return of === undefined || (of === 'newer') === compareVersions(version, ownFilesSince) >= 0;
}

/** The bounds of the versions before 1.12, and those of 1.12 and newer; one list if all versions have the same bounds. */
function sidesOf(bounds: readonly Bound[]): Bound[][] {
  if (bounds.every(({ of }) => of === undefined)) return [[...bounds]];
  const side = (left: Obeying, sign: string): Bound[] => [
    ...bounds.filter(({ of }) => of !== left),
    { version: `${sign} ${ownFilesSince}`, by: 'files' },
  ];
  return [side('newer', '<'), side('older', '>=')];
}

/** Whether any version that can exist meets all bounds. */
export function canBeMet(bounds: readonly Bound[]): boolean {
  return sidesOf(bounds).some((side) => canBeSatisfied(rangesOf(side)));
}

/**
 * The lists of bounds that versions can meet: one for the versions before 1.12, and one for the others. It is a single list if 1.12 is also
 * in the ranges that it ignores.
 */
export function alternativesOf(bounds: readonly Bound[]): (readonly Bound[])[] {
  const usable = sidesOf(bounds).filter((side) => canBeSatisfied(rangesOf(side)));
  const isOne =
    usable.length > 1 && bounds.every(({ of }) => of !== 'newer') && isInRanges(ownFilesSince, rangesOf(bounds));
  return isOne ? [bounds] : usable;
}

/** The bounds that contradict each other: if any one of them is left out, a version can meet the others. */
export function contradictionIn(bounds: readonly Bound[]): readonly Bound[] {
  return bounds.reduce<readonly Bound[]>((left, bound) => {
    const others = left.filter((each) => each !== bound);
    return canBeMet(others) ? left : others;
  }, bounds);
}

const maxShown = 200;

/** Joins ranges into one text for people, which ends with `…` if it would become too long. */
export function joinRanges(ranges: readonly string[]): string {
  let joined = '';
  for (const range of new Set(ranges)) {
    if (joined !== '' && joined.length + range.length > maxShown) return `${joined}, …`;
    joined = joined === '' ? range : `${joined}, ${range}`;
  }
  return joined;
}

/** The parsed ranges. It leaves out those that cannot be parsed, because the tool itself refuses them. */
export function rangesOf(bounds: readonly Bound[]): VersionRange[] {
  return bounds.map(({ version }) => parseRange(version)).filter((range) => range !== undefined);
}
