import semver from 'semver';
import { Unprocessable } from '#domain/shared/errors.ts';
import { isExactVersion } from './model.ts';

/** Which published version a client means (api.md of the design, *Registry*). */

export type AvailableVersion = { readonly version: string; readonly yanked: boolean };

const longestRange = 128;
const mostListed = 5;

/**
 * The version that is wanted: an exact one, the highest of a range (`^1.2`, `~1`, `>=1 <2`) or `latest`.
 * A yanked version is found by its exact name alone. `latest` is the highest release, or the highest pre-release where
 * there is no release; a range takes a pre-release only where it names one of the same version itself.
 * @throws Unprocessable saying what there is instead
 */
export function resolveVersion<V extends AvailableVersion>(available: readonly V[], wanted: string): V {
  if (isExactVersion(wanted)) {
    const exact = available.find(({ version }) => version === wanted);
    if (exact) return exact;
    throw new Unprocessable(`the template has no version ${wanted}${listVersions(available)}`);
  }
  const isWanted = wanted === 'latest' ? () => true : readRange(wanted);
  const fitting = available.filter(({ version, yanked }) => !yanked && isWanted(version));
  const found = wanted === 'latest' ? findLatest(fitting) : newestFirst(fitting)[0];
  if (found) return found;
  throw new Unprocessable(explainNothing(available, wanted, isWanted));
}

/** The highest release that was not yanked, or the highest pre-release where there is no release. */
export function findLatest<V extends AvailableVersion>(available: readonly V[]): V | undefined {
  const candidates = newestFirst(available).filter(({ yanked }) => !yanked);
  return candidates.find(({ version }) => !semver.prerelease(version)) ?? candidates[0];
}

/** Versions in the order of semantic versions, the highest first. */
export function newestFirst<V extends AvailableVersion>(versions: readonly V[]): V[] {
  return [...versions].sort((a, b) => semver.rcompare(a.version, b.version));
}

function readRange(wanted: string): (version: string) => boolean {
  const range = wanted.length <= longestRange && wanted.trim() !== '' ? semver.validRange(wanted) : null;
  if (range === null) {
    throw new Unprocessable(
      'expected an exact version such as "1.4.0", a range such as "^1.2" or ">=1 <2", or "latest"',
    );
  }
  return (version) => semver.satisfies(version, range);
}

function explainNothing(
  available: readonly AvailableVersion[],
  wanted: string,
  isWanted: (version: string) => boolean,
): string {
  if (available.length === 0) return 'the template has no published version';
  const yanked = available.filter(({ version, yanked }) => yanked && isWanted(version));
  if (yanked.length > 0) {
    return `every version that fits "${wanted}" was yanked; an exact version takes one all the same${listVersions(yanked)}`;
  }
  const preReleases = available.filter(({ version }) => {
    const release = semver.coerce(version)?.version;
    return semver.prerelease(version) !== null && release !== undefined && isWanted(release);
  });
  if (preReleases.length > 0) {
    return `only pre-releases fit "${wanted}": name one of them exactly${listVersions(preReleases)}`;
  }
  return `no version fits "${wanted}"${listVersions(available)}`;
}

function listVersions(versions: readonly AvailableVersion[]): string {
  if (versions.length === 0) return '';
  const names = newestFirst(versions).map(({ version, yanked }) => (yanked ? `${version} (yanked)` : version));
  return `: there is ${names.slice(0, mostListed).join(', ')}${names.length > mostListed ? ', …' : ''}`;
}
