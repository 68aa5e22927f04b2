import semver, { type Comparator } from 'semver';

/**
 * Translates a range in the language of npm (`^1.8`, `>=1.8 <2 || 3.x`) into ranges in the language of the tools. A version is in the npm
 * range if it is in one of them. Undefined: the text is not a range of npm. Settings from earlier releases contain such ranges, and people
 * write them by habit.
 */
export function fromNpmRange(text: string): string[] | undefined {
  if (text.trim() === '' || semver.validRange(text) === null) return undefined;
  return new semver.Range(text).set.flatMap((comparators) => toRanges(comparators.filter(isBound)));
}

/** The comparator that includes everything has no version. */
function isBound({ semver: version }: Comparator): boolean {
  return version instanceof semver.SemVer;
}

function toRanges(comparators: readonly Comparator[]): string[] {
  if (comparators.length === 0) return ['>= 0.0.0'];
  const named = comparators.filter(namesPrerelease);
  return [write(comparators), ...named.flatMap((each) => toPrereleases(each.semver, comparators))];
}

/**
 * npm includes the pre-releases of a version if any comparator names one of them. The tools include them only if every comparator does, so
 * these pre-releases need a separate range.
 */
function toPrereleases(of: semver.SemVer, comparators: readonly Comparator[]): string[] {
  const own = comparators.filter((each) => namesPrerelease(each) && each.semver.compareMain(of) === 0);
  const others = comparators.filter((each) => !own.includes(each));
  const lowest = `${of.major}.${of.minor}.${of.patch}-0`;
  if (others.length === 0 || !others.every((each) => each.test(lowest))) return [];
  return [`~> ${lowest}, ${write(own)}`];
}

/** Excludes `<2.0.0-0`, which npm itself writes to leave out the pre-releases of 2.0.0. */
function namesPrerelease({ operator, semver: { prerelease } }: Comparator): boolean {
  return prerelease.length > 0 && !(operator === '<' && prerelease.length === 1 && prerelease[0] === 0);
}

function write(comparators: readonly Comparator[]): string {
  return comparators
    .map((each) => `${each.operator || '='} ${namesPrerelease(each) ? each.semver.version : releaseOf(each.semver)}`)
    .join(', ');
}

/** Limits the numbers to the digits that the tools' language allows. Nobody publishes versions with larger numbers. */
function releaseOf({ major, minor, patch }: semver.SemVer): string {
  return [major, minor, patch].map((each) => Math.min(each, 999_999_999)).join('.');
}
