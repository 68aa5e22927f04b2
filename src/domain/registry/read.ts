import type { Em } from '#database/database.ts';
import { readableTeamsSql } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { afterId, type Page, type PageRequest, toPage, Where } from '#domain/shared/paging.ts';
import { type AvailableVersion, findLatest } from './versions.ts';

/** Templates and versions as answers show them, read without entities. */

export interface TemplateRow {
  readonly id: string;
  readonly team_id: string | null;
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly tags: string[];
  readonly latest_version: string | null;
  readonly revision: number;
  readonly created_at: string;
  readonly archived_at: string | null;
}

export interface TemplateFilter {
  readonly team_id?: string | undefined;
  readonly tag?: string | undefined;
  readonly search?: string | undefined;
  readonly archived: boolean;
}

const templateColumns = `t.id, t.team_id, t.name, t.slug, t.description, t.tags, t.revision, t.created_at, t.archived_at,
  (select coalesce(jsonb_agg(jsonb_build_object('version', v.version, 'yanked', v.yanked_at is not null)), '[]')
     from template_versions v where v.template_id = t.id) as versions`;

/** The templates that a principal may read: its teams', and those of the whole installation. */
export async function listTemplates(
  em: Em,
  principal: Principal,
  filter: TemplateFilter,
  page: PageRequest,
): Promise<Page<TemplateRow>> {
  const readable = readableTeamsSql(principal, 't.team_id', 'visible');
  const where = new Where()
    .and('t.deleted_at is null')
    .and(`t.archived_at is ${filter.archived ? 'not ' : ''}null`)
    .and(readable.sql, ...readable.params)
    .andIf(filter.team_id, 't.team_id = ?')
    .andIf(filter.tag && JSON.stringify([filter.tag]), 't.tags @> ?::jsonb')
    .andIf(filter.search?.toLowerCase(), `position(? in lower(t.name || ' ' || t.slug || ' ' || t.description)) > 0`)
    .andIf(afterId(page), 't.id < ?');
  const rows = await em.execute<(TemplateRow & { versions: AvailableVersion[] })[]>(
    `select ${templateColumns} from templates t where ${where.sql} order by t.id desc limit ?`,
    [...where.params, page.limit + 1],
  );
  return toPage(rows.map(withLatest), page);
}

/** One template; the caller has decided that it may be read. */
export async function readTemplate(em: Em, id: string): Promise<TemplateRow | undefined> {
  const rows = await em.execute<(TemplateRow & { versions: AvailableVersion[] })[]>(
    `select ${templateColumns} from templates t where t.id = ? and t.deleted_at is null`,
    [id],
  );
  return rows.map(withLatest)[0];
}

export interface VersionRow {
  readonly id: string;
  readonly template_id: string;
  readonly version: string;
  readonly executor: string;
  readonly digest: string;
  readonly commit: string | null;
  readonly changelog: string;
  readonly published_by: { readonly id: string; readonly name: string };
  readonly created_at: string;
  readonly yanked_at: string | null;
}

const versionColumns = `v.id, v.template_id, v.version, v.spec #>> '{executor,kind}' as executor, v.digest, v.commit,
  v.changelog, v.created_at, v.yanked_at,
  jsonb_build_object('id', v.published_by, 'name', coalesce((select p.name from principals p where p.id = v.published_by), ''))
    as published_by`;

/** The versions of a template, the last published first. */
export async function listVersions(em: Em, templateId: string, page: PageRequest): Promise<Page<VersionRow>> {
  const where = new Where().and('v.template_id = ?', templateId).andIf(afterId(page), 'v.id < ?');
  const rows = await em.execute<VersionRow[]>(
    `select ${versionColumns} from template_versions v where ${where.sql} order by v.id desc limit ?`,
    [...where.params, page.limit + 1],
  );
  return toPage(rows, page);
}

export interface VersionDetails extends VersionRow {
  readonly spec: Record<string, unknown>;
  /** The paths of the files that a run gets. */
  readonly files: string[];
}

/** One version with its spec, by its row. */
export async function readVersion(em: Em, id: string): Promise<VersionDetails | undefined> {
  const rows = await em.execute<VersionDetails[]>(
    `select ${versionColumns}, v.spec,
        (select coalesce(jsonb_agg(f.path order by f.path), '[]') from jsonb_object_keys(v.files) as f (path)) as files
       from template_versions v where v.id = ?`,
    [id],
  );
  return rows[0];
}

function withLatest({ versions, ...row }: TemplateRow & { versions: AvailableVersion[] }): TemplateRow {
  return { ...row, latest_version: findLatest(versions)?.version ?? null };
}
