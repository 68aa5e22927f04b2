import { isDeepStrictEqual } from 'node:util';
import type { FastifyReply } from 'fastify';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readFiles } from '#domain/registry/publication/published.ts';
import { newestFirst } from '#domain/registry/versions.ts';
import { get as getTemplate } from '../../template-operations.ts';
import { get, file as getFile, list } from '../../version-operations.ts';
import type { ListedVersion, ShownVersion } from '../views.ts';
import { compareVariables } from './compare.ts';
import { schemaOf } from './variables-table.ts';
import { versionPage } from './version-view.ts';

/** How many pages of versions are read. */
const maxReads = 10;

/** Shows what a version consists of, and what has changed since the version below it. */
export async function showVersion(visit: Visit<{ id: string; version: string }>): Promise<FastifyReply> {
  const { id, version: wanted } = visit.params;
  const [template, version, { versions, isCut }] = await Promise.all([
    visit.read(getTemplate, { params: { id } }),
    visit.read(get, { params: { id, version: wanted } }),
    readVersions(visit),
  ]);
  const below = findBelow(versions, version.version);
  const previous = below ? await visit.read(get, { params: { id, version: below.version } }) : null;
  const path = visit.query('file');
  const file = path ? await visit.read(getFile, { params: { id, version: version.version }, query: { path } }) : null;
  const page = versionPage({
    template,
    version,
    environmentId: visit.query('environment_id'),
    isCut,
    previous: previous && {
      version: previous.version,
      changes: compareVariables(schemaOf(previous.spec), schemaOf(version.spec)),
      hasSameFiles: await haveSameFiles(visit, previous, version),
    },
    file,
    confirmation: renderConfirmation(visit, pages.templateVersion),
  });
  return visit.show(page);
}

/**
 * Whether runs of two versions get the same files. False if there are no files at all, because then nobody can have forgotten to change
 * them.
 */
async function haveSameFiles({ em }: Visit, one: ShownVersion, other: ShownVersion): Promise<boolean> {
  if (other.files.length === 0 || !isDeepStrictEqual(one.files, other.files)) return false;
  return isDeepStrictEqual(await readFiles(em, one.id), await readFiles(em, other.id));
}

/** Reads all versions to find the next lower one, because versions are listed in the order of their publication. */
async function readVersions(visit: Visit<{ id: string }>) {
  const versions: ListedVersion[] = [];
  let cursor: string | undefined;
  for (let read = 0; read < maxReads; read += 1) {
    const query = { limit: '200', cursor };
    const page = await visit.read(list, { params: { id: visit.params.id }, query });
    versions.push(...page.versions);
    if (page.next_cursor === null) return { versions, isCut: false };
    cursor = page.next_cursor;
  }
  return { versions, isCut: true };
}

/** The next lower version. */
function findBelow(versions: readonly ListedVersion[], version: string): ListedVersion | undefined {
  const sorted = newestFirst(versions);
  return sorted[sorted.findIndex((each) => each.version === version) + 1];
}
