import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { FileContent } from '#domain/sources/files.ts';
import type { VersionCheck } from './checks/model.ts';
import type { ExecutorKind } from './spec.ts';

/** A version as its readers see it. */
export type VersionSummary = RowOf<typeof selectVersions>;

/** A page of the versions of a template, last published first. */
export function listVersions(em: Em, templateId: string, request: PageRequest): Promise<Page<VersionSummary>> {
  return pageOf(selectVersions(em).where('v.templateId', '=', templateId), 'v.id', request);
}

export interface VersionDetails extends VersionSummary {
  readonly spec: Record<string, unknown>;
  /** The paths of the files that a run gets. */
  readonly files: string[];
  readonly check: VersionCheck | null;
}

/** One version with its spec, by the id of its row. */
export function readVersion(em: Em, id: string): Promise<VersionDetails | undefined> {
  return selectVersions(em)
    .where('v.id', '=', id)
    .select(['v.spec', 'v.check'])
    .select((eb) =>
      sql<
        string[]
      >`(select coalesce(jsonb_agg(path order by path), '[]') from jsonb_object_keys(${eb.ref('v.files')}) as path)`.as(
        'files',
      ),
    )
    .executeTakeFirst();
}

function selectVersions(em: Em) {
  return (
    db(em)
      .selectFrom('template_versions as v')
      .select(['v.id', 'v.templateId', 'v.version', 'v.digest', 'v.commit', 'v.changelog'])
      // Empty: it is not yanked, or no reason was given.
      .select(['v.createdAt', 'v.yankedAt', 'v.yankReason'])
      .select((eb) => {
        const name = eb.selectFrom('principals as p').whereRef('p.id', '=', 'v.publishedBy').select('p.name');
        return [
          sql<ExecutorKind>`${eb.ref('v.spec')} #>> '{executor,kind}'`.as('executor'),
          sql<{ id: string; name: string }>`
          jsonb_build_object('id', ${eb.ref('v.publishedBy')}, 'name', coalesce(${name}, ''))`.as('publishedBy'),
        ];
      })
  );
}

/** The content of one file that a run of the version gets; undefined if the version has no such file. */
export async function readVersionFile(em: Em, id: string, path: string): Promise<FileContent | undefined> {
  const row = await db(em)
    .selectFrom('template_versions as v')
    .where('v.id', '=', id)
    .select((eb) => sql<FileContent | null>`${eb.ref('v.files')} -> ${path}::text`.as('content'))
    .executeTakeFirst();
  return row?.content ?? undefined;
}
