import semver, { type Comparator } from 'semver';

/**
 * Translates a range in the language of npm (`^1.8`, `>=1.8 <2 || 3.x`) into ranges in the language of the tools. A version is in the npm range if it
 * is in one of them. Undefined: the text is not a range of npm. Settings of earlier releases have such ranges, and people write them by habit.
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
 * npm includes the pre-releases of a version if one comparator names a pre-release of it, whatever the others name. The tools demand it of each
 * comparator, so these pre-releases need a range of their own.
 */
function toPrereleases(of: semver.SemVer, comparators: readonly Comparator[]): string[] {
  const own = comparators.filter((each) => namesPrerelease(each) && each.semver.compareMain(of) === 0);
  const others = comparators.filter((each) => !own.includes(each));
  const lowest = `${of.major}.${of.minor}.${of.patch}-0`;
  if (others.length === 0 || !others.every((each) => each.test(lowest))) return [];
  return [`~> ${lowest}, ${write(own)}`];
}

/** npm itself ends a range below the pre-releases of its end: `<2.0.0-0`. */
function namesPrerelease({ operator, semver: { prerelease } }: Comparator): boolean {
  return prerelease.length > 0 && !(operator === '<' && prerelease.length === 1 && prerelease[0] === 0);
}

function write(comparators: readonly Comparator[]): string {
  return comparators
    .map((each) => `${each.operator || '='} ${namesPrerelease(each) ? each.semver.version : releaseOf(each.semver)}`)
    .join(', ');
}

/** Numbers of more digits than the tools' language has stand for a version that nobody publishes. */
function releaseOf({ major, minor, patch }: semver.SemVer): string {
  return [major, minor, patch].map((each) => Math.min(each, 999_999_999)).join('.');
}
