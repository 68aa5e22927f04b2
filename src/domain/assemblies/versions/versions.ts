import type { Em } from '#database/database.ts';
import { resolveVersion } from '#domain/registry/versions.ts';
import { readBack } from '#domain/shared/revisions.ts';
import { type AssemblyVersionDetails, listAvailableVersions, readAssemblyVersion } from './version-store.ts';

/**
 * The version of an assembly that matches an exact version, a range, or `latest`.
 * @throws Unprocessable naming the versions that exist instead
 */
export async function loadAssemblyVersion(em: Em, assemblyId: string, wanted: string): Promise<AssemblyVersionDetails> {
  const { id } = resolveVersion(await listAvailableVersions(em, assemblyId), wanted, 'assembly');
  return readBack(readAssemblyVersion(em, id));
}
