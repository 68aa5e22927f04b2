import type { Em } from '#database/database.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import type { FilesTools } from '#domain/tools/demand.ts';
import { TemplateVersion } from '../entity.ts';
import { TemplateSpec } from '../spec.ts';
import { findAvailableVersions, type VersionRow } from '../store.ts';
import { filesToolsOf } from '../tools/usable-tools.ts';
import { resolveVersion } from '../versions.ts';
import { FilesCache } from './files-cache.ts';

/** A published version as runs use it. It never changes, so it is read once and cached. */
export interface PublishedVersion {
  readonly id: string;
  readonly version: string;
  readonly spec: TemplateSpec;
  /** The requirements of its files for their tool. */
  readonly filesTools: FilesTools;
}

const maxCached = 500;
const cached = new Map<string, PublishedVersion>();

/**
 * The version of a template that matches an exact version, a range, or `latest`.
 * @throws Unprocessable naming the versions that exist instead
 */
export async function loadVersion(em: Em, templateId: string, wanted: string): Promise<PublishedVersion> {
  return loadAvailable(em, await findAvailableVersions(em, templateId), wanted);
}

/** `loadVersion` among the versions that its caller has read. */
export function loadAvailable(em: Em, available: readonly VersionRow[], wanted: string): Promise<PublishedVersion> {
  return loadVersionById(em, resolveVersion(available, wanted).id);
}

/** A version by the id of its row, which must exist. */
export async function loadVersionById(em: Em, id: string): Promise<PublishedVersion> {
  const known = cached.get(id);
  if (known) return known;
  const row = await em.findOneOrFail(TemplateVersion, { id });
  const spec = TemplateSpec.parse(row.spec);
  const filesTools = row.filesTools ?? filesToolsOf(spec, await readFiles(em, id));
  const published = { id, version: row.version, spec, filesTools };
  if (cached.size >= maxCached) cached.delete(cached.keys().next().value ?? id);
  cached.set(id, published);
  return published;
}

const cachedFiles = new FilesCache(32 * 1024 * 1024);

/** The files that the runs of a version get. Do not change them: they are cached, too. */
export async function readFiles(em: Em, id: string): Promise<TemplateFiles> {
  const known = cachedFiles.get(id);
  if (known) return known;
  const { files } = await em.findOneOrFail(TemplateVersion, { id }, { populate: ['files'] });
  cachedFiles.set(id, files);
  return files;
}
