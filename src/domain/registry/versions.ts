import semver from 'semver';
import { Unprocessable } from '#domain/shared/errors.ts';
import { isExactVersion } from './model.ts';

/** Finds the published version to which a client's version or range refers (docs/writing-templates.md, *Versions*). */

export type AvailableVersion = { readonly version: string; readonly yanked: boolean };

const maxRangeLength = 128;
const maxListed = 5;

/**
 * The wanted version: an exact one, the highest of a range (`^1.2`, `~1`, `>=1 <2`) or `latest`. Only its exact name finds a
 * yanked version. `latest` is the highest release, or the highest pre-release if there is no release. A range matches a
 * pre-release only if the range itself names a pre-release of the same version.
 * @throws Unprocessable naming the versions that exist instead
 */
export function resolveVersion<V extends AvailableVersion>(
  available: readonly V[],
  wanted: string,
  of: 'template' | 'assembly' = 'template',
): V {
  if (isExactVersion(wanted)) {
    const exact = available.find(({ version }) => version === wanted);
    if (exact) return exact;
    throw new Unprocessable(`the ${of} has no version ${wanted}${listVersions(available)}`, {
      code: 'version_unknown',
    });
  }
  const matches = wanted === 'latest' ? () => true : readRange(wanted);
  const matching = available.filter(({ version, yanked }) => !yanked && matches(version));
  const found = wanted === 'latest' ? findLatest(matching) : newestFirst(matching)[0];
  if (found) return found;
  throw new Unprocessable(explainMismatch(available, wanted, matches, of), { code: 'version_unknown' });
}

/** The highest release that is not yanked, or the highest such pre-release if there is no release. */
export function findLatest<V extends AvailableVersion>(available: readonly V[]): V | undefined {
  const candidates = newestFirst(available).filter(({ yanked }) => !yanked);
  return candidates.find(({ version }) => !semver.prerelease(version)) ?? candidates[0];
}

/** Sorts by semantic version, highest first. */
export function newestFirst<V extends Pick<AvailableVersion, 'version'>>(versions: readonly V[]): V[] {
  return [...versions].sort((a, b) => semver.rcompare(a.version, b.version));
}

function readRange(wanted: string): (version: string) => boolean {
  const range = wanted.length <= maxRangeLength && wanted.trim() !== '' ? semver.validRange(wanted) : null;
  if (range === null) {
    throw new Unprocessable(
      'version: expected an exact version such as "1.4.0", a range such as "^1.2" or ">=1 <2", or "latest"',
      { code: 'version_malformed' },
    );
  }
  return (version) => semver.satisfies(version, range);
}

function explainMismatch(
  available: readonly AvailableVersion[],
  wanted: string,
  matches: (version: string) => boolean,
  of: string,
): string {
  if (available.length === 0) return `the ${of} has no published version`;
  const yanked = available.filter(({ version, yanked }) => yanked && matches(version));
  if (yanked.length > 0) {
    return `every version that matches "${wanted}" was yanked; name one exactly to use it all the same${listVersions(yanked)}`;
  }
  const preReleases = available.filter(({ version }) => {
    const release = semver.coerce(version)?.version;
    return semver.prerelease(version) !== null && release !== undefined && matches(release);
  });
  if (preReleases.length > 0) {
    return `only pre-releases match "${wanted}": name one of them exactly${listVersions(preReleases)}`;
  }
  return `no version matches "${wanted}"${listVersions(available)}`;
}

function listVersions(versions: readonly AvailableVersion[]): string {
  if (versions.length === 0) return '';
  const names = newestFirst(versions).map(({ version, yanked }) => (yanked ? `${version} (yanked)` : version));
  return `; available: ${names.slice(0, maxListed).join(', ')}${names.length > maxListed ? ', …' : ''}`;
}
