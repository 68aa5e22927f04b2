import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { type Page, type PageRequest, pageOfLarge } from '#domain/shared/paging/paging.ts';
import type { Manifest } from '../model.ts';
import { parseManifest } from './manifest.ts';

/** A release that an installation knows. */
export interface ReleaseDetails {
  readonly id: string;
  readonly release: string;
  readonly digest: string;
  readonly manifest: Uint8Array | null;
  readonly stagedAt: string;
}

export function findRelease(em: Em, installationId: string, release: string): Promise<ReleaseDetails | undefined> {
  return selectReleases(em, installationId).where('m.release', '=', release).executeTakeFirst();
}

/** The declarations of a release; null if there is no such release, or if its manifest was not staged. */
export async function readDeclarations(
  em: Em,
  installationId: string,
  release: string | null,
): Promise<Manifest | null> {
  const found = release === null ? undefined : await findRelease(em, installationId, release);
  return found?.manifest ? parseManifest(found.manifest) : null;
}

export function listReleases(em: Em, installationId: string, request: PageRequest): Promise<Page<ReleaseDetails>> {
  return pageOfLarge(em, selectReleases(em, installationId), 'm.id', request);
}

function selectReleases(em: Em, installationId: string) {
  return db(em)
    .selectFrom('plugin_releases as m')
    .where('m.installationId', '=', installationId)
    .select(['m.id', 'm.release', 'm.digest', 'm.manifest', 'm.stagedAt']);
}
