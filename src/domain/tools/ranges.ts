/**
 * Ranges of versions as OpenTofu and Terraform write them: `>= 1.5, < 2.0`, `~> 1.9`, `!= 1.9.1`. A version without an operator means
 * exactly this version. A constraint that names no pre-release includes none, except that `!=` includes all versions other than its own.
 * Pure.
 */

interface Version {
  /** Major, minor and patch. */
  readonly segments: readonly [number, number, number];
  /** Empty: a release. */
  readonly prerelease: string;
}

interface Constraint {
  readonly operator: '=' | '!=' | '>' | '>=' | '<' | '<=' | '~>';
  readonly version: Version;
  /** How many segments were written: `~> 1.9` goes up to 2.0, `~> 1.9.0` up to 1.10. */
  readonly precision: number;
}

/** A parsed range: the versions that all of its constraints include. */
export type VersionRange = readonly Constraint[];

/** The longest range that templates, environments and instances may name. */
export const maxRangeLength = 200;
/** The longest range that is read: a range of npm with that length is less than eight times as long when it is translated. */
export const maxTranslatedLength = 8 * maxRangeLength;
const written =
  /^(=|!=|>|>=|<|<=|~>)?\s*v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:-([0-9A-Za-z.~-]+))?(?:\+[0-9A-Za-z.~-]+)?$/;
const operators = { '=': '=', '!=': '!=', '>': '>', '>=': '>=', '<': '<', '<=': '<=', '~>': '~>' } as const;

/** Undefined if the text is not a range. */
export function parseRange(text: string): VersionRange | undefined {
  if (text.length > maxTranslatedLength) return undefined;
  const constraints = text.split(',').map((part) => parseConstraint(part.trim()));
  return constraints.every((each) => each !== undefined) ? constraints : undefined;
}

function parseConstraint(text: string): Constraint | undefined {
  const match = written.exec(text);
  if (!match) return undefined;
  const [, sign = '=', major, minor, patch, prerelease = ''] = match;
  const operator = Object.values(operators).find((each) => each === sign);
  const precision = [major, minor, patch].filter((each) => each !== undefined).length;
  const segments = [Number(major), Number(minor ?? 0), Number(patch ?? 0)] as const;
  return operator && { operator, version: { segments, prerelease }, precision };
}

/** Whether a version, such as `1.12.6`, is in all of the ranges. */
export function isInRanges(version: string, ranges: readonly VersionRange[]): boolean {
  const parsed = parseVersion(version);
  return parsed !== undefined && includesAll(ranges.flat(), parsed);
}

/** Whether any version that can exist is in all of the ranges. */
export function canBeSatisfied(ranges: readonly VersionRange[]): boolean {
  const constraints = ranges.flat();
  // The lowest version of a non-empty range is 0.0.0, a version that a constraint names, or the version after such a one.
  const candidates = constraints.flatMap(({ version }) => [version, versionAfter(version)]);
  return [{ segments: [0, 0, 0], prerelease: '' } as const, ...candidates].some((each) =>
    includesAll(constraints, each),
  );
}

/** Negative if the first version is lower. A text that is not a version is lower than every version. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [parseVersion(one), parseVersion(other)];
  if (left && right) return compare(left, right);
  return Number(left !== undefined) - Number(right !== undefined);
}

function parseVersion(text: string): Version | undefined {
  const constraint = /^v?\d/.test(text) ? parseConstraint(text) : undefined;
  return constraint?.version;
}

function includesAll(constraints: readonly Constraint[], version: Version): boolean {
  return constraints.every((constraint) => includes(constraint, version));
}

function includes({ operator, version: bound, precision }: Constraint, version: Version): boolean {
  const order = compare(version, bound);
  if (operator === '=') return order === 0;
  if (operator === '!=') return order !== 0;
  if (!isComparable(version, bound)) return false;
  switch (operator) {
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '~>':
      return (
        order >= 0 &&
        (bound.prerelease === '' || version.prerelease !== '') &&
        hasSameStart(version, bound, precision - 1)
      );
  }
}

/** Only pre-releases of the same version can be compared with a pre-release. */
function isComparable(version: Version, bound: Version): boolean {
  if (version.prerelease === '') return true;
  return bound.prerelease !== '' && hasSameStart(version, bound, 3);
}

function hasSameStart(version: Version, bound: Version, count: number): boolean {
  return version.segments.slice(0, count).every((segment, index) => segment === bound.segments[index]);
}

function versionAfter({ segments: [major, minor, patch], prerelease }: Version): Version {
  return { segments: [major, minor, prerelease === '' ? patch + 1 : patch], prerelease: '' };
}

function compare(one: Version, other: Version): number {
  const at = one.segments.findIndex((segment, index) => segment !== other.segments[index]);
  if (at >= 0) return (one.segments[at] ?? 0) - (other.segments[at] ?? 0);
  return comparePrereleases(one.prerelease, other.prerelease);
}

/** A release comes after its pre-releases. Parts of digits are numbers, and lower than others. */
function comparePrereleases(one: string, other: string): number {
  if (one === '' || other === '') return Number(one === '') - Number(other === '');
  const [left, right] = [one.split('.'), other.split('.')];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const order = comparePart(left[at], right[at]);
    if (order !== 0) return order;
  }
  return 0;
}

function comparePart(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return Number(one !== undefined) - Number(other !== undefined);
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return Number(one) - Number(other);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one === other ? 0 : one < other ? -1 : 1;
}
