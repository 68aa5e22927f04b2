import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { lockRows } from '#database/row-lock.ts';
import { json } from '#database/tables.ts';
import { db, type Over, prepare } from '#domain/db.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging.ts';
import { findTeamOrInstallation, type Owner } from '#domain/teams/store.ts';
import { Template, TemplateVersion } from './entity.ts';
import type { ExecutorKind, TemplateApproval } from './spec.ts';
import { type AvailableVersion, findLatest } from './versions.ts';

/** A template with its owner. */
export interface TemplateTarget extends Owner {
  readonly template: Template;
}

export interface VersionTarget extends TemplateTarget {
  readonly version: TemplateVersion;
}

/** A template by its id; undefined if it or its owner is deleted. */
export function findTemplate(em: Em, id: string): Promise<TemplateTarget | undefined> {
  return findTemplateToChange(em, id, false);
}

/** `findTemplate` for a command that changes the template. With `lock` it locks the rows of the owner, then the template's own. */
export async function findTemplateToChange(em: Em, id: string, lock: boolean): Promise<TemplateTarget | undefined> {
  const known = await em.findOne(Template, { id, deletedAt: null });
  const owner = known && (await findTeamOrInstallation(em, known.teamId, lock));
  if (!known || !owner) return undefined;
  if (!lock) return toTarget(owner, known);
  await lockRows(db(em).selectFrom('templates').where('id', '=', id).select('id'), ['templates'], 'change').execute();
  const template = await em.findOne(Template, { id, deletedAt: null }, { refresh: true });
  return template ? toTarget(owner, template) : undefined;
}

function toTarget({ organizationId, teamId, archived }: Owner, template: Template): TemplateTarget {
  return { organizationId, teamId, archived: template.archivedAt ? [...archived, 'template'] : archived, template };
}

/** Who owns a template, in one query; undefined if the template or its owner is deleted. */
export function findTemplateOwner(em: Em, id: string): Promise<Ownership | undefined> {
  return db(em)
    .selectFrom('templates as t')
    .leftJoin('teams as m', (join) => join.onRef('m.id', '=', 't.team_id').on('m.deleted_at', 'is', null))
    .leftJoin('organizations as o', (join) =>
      join.onRef('o.id', '=', 'm.organization_id').on('o.deleted_at', 'is', null),
    )
    .where('t.id', '=', id)
    .where('t.deleted_at', 'is', null)
    .where((eb) => eb.or([eb('t.team_id', 'is', null), eb('o.id', 'is not', null)]))
    .select(['m.id as teamId', 'o.id as organizationId'])
    .executeTakeFirst();
}

/** Shares the row of a template, so that it is not deleted before the commit. */
export async function shareTemplate(em: Em, id: string): Promise<void> {
  const row = db(em).selectFrom('templates').where('id', '=', id).select('id');
  await lockRows(row, ['templates'], true).execute();
}

/** A version by its exact name, with its template. `lock` locks the template for a change. */
export async function findVersionToChange(
  em: Em,
  { id, version }: { id: string; version: string },
  lock: boolean,
): Promise<VersionTarget | undefined> {
  const target = await findTemplateToChange(em, id, lock);
  const found = target && (await em.findOne(TemplateVersion, { templateId: id, version }));
  return found ? { ...target, version: found } : undefined;
}

/** All versions of a template, yanked ones included. */
export function findAvailableVersions(em: Em, templateId: string): Promise<(AvailableVersion & { id: string })[]> {
  return selectAvailableVersions(em, { templateId });
}

const selectAvailableVersions = prepare((db, parameter: ParameterOf<{ templateId: string }>) =>
  db
    .selectFrom('template_versions')
    .where('template_id', '=', parameter('templateId'))
    .select((eb) => ['id', 'version', eb('yanked_at', 'is not', null).$castTo<boolean>().as('yanked')]),
);

/** All versions of a template, yanked ones included, with the approval that each demands. */
export function listVersionApprovals(
  em: Em,
  templateId: string,
): Promise<{ version: string; approval: TemplateApproval | null }[]> {
  return db(em)
    .selectFrom('template_versions')
    .where('template_id', '=', templateId)
    .select(['version', sql<TemplateApproval | null>`spec -> 'approval'`.as('approval')])
    .execute();
}

/** A template as its readers see it. */
export interface TemplateDetails {
  readonly id: string;
  readonly teamId: string | null;
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Null while nothing is published. */
  readonly latestVersion: string | null;
  readonly revision: number;
  readonly createdAt: string;
  readonly archivedAt: string | null;
}

export interface TemplateFilter {
  readonly teamId: string | undefined;
  readonly tag: string | undefined;
  /** Text in the name, the slug or the description, in any case. */
  readonly search: string | undefined;
  /** Archived templates instead of active ones. */
  readonly archived: boolean;
}

/** A page of the templates that a principal may read: those of its teams, and those of the whole installation. */
export async function listTemplates(
  em: Em,
  principal: Principal,
  { teamId, tag, search, archived }: TemplateFilter,
  request: PageRequest,
): Promise<Page<TemplateDetails>> {
  const templates = selectTemplates(em)
    .where('t.archived_at', archived ? 'is not' : 'is', null)
    .where((eb) => isInReadableTeam(principal, eb.ref('t.team_id'), 'visible'))
    .$if(teamId !== undefined, (query) => query.where('t.team_id', '=', teamId ?? null))
    .$if(tag !== undefined, (query) => query.where('t.tags', '@>', sql<string[]>`${json([tag])}::jsonb`))
    .$if(search !== undefined, (query) => query.where((eb) => mentions(eb, search ?? '')));
  const { items, nextCursor } = await pageOf(templates, 't.id', request);
  return { items: items.map(withLatest), nextCursor };
}

/** One template; the caller has decided that it may be read. */
export async function readTemplate(em: Em, id: string): Promise<TemplateDetails | undefined> {
  const template = await selectTemplates(em).where('t.id', '=', id).executeTakeFirst();
  return template && withLatest(template);
}

function mentions(eb: Over<{ t: 'templates' }>, text: string) {
  const fields = sql`${eb.ref('t.name')} || ' ' || ${eb.ref('t.slug')} || ' ' || ${eb.ref('t.description')}`;
  return sql<boolean>`position(${text.toLowerCase()} in lower(${fields})) > 0`;
}

function selectTemplates(em: Em) {
  return db(em)
    .selectFrom('templates as t')
    .where('t.deleted_at', 'is', null)
    .select(['t.id', 't.team_id as teamId', 't.name', 't.slug', 't.description', 't.tags', 't.revision'])
    .select(['t.created_at as createdAt', 't.archived_at as archivedAt'])
    .select((eb) => collectVersions(eb).$asScalar().$notNull().as('versions'));
}

function collectVersions(eb: Over<{ t: 'templates' }>) {
  return eb
    .selectFrom('template_versions as v')
    .whereRef('v.template_id', '=', 't.id')
    .select((of) => {
      const version = sql`jsonb_build_object('version', ${of.ref('v.version')}, 'yanked', ${of('v.yanked_at', 'is not', null)})`;
      return sql<AvailableVersion[]>`coalesce(jsonb_agg(${version}), '[]')`.as('versions');
    });
}

function withLatest<Row extends { versions: AvailableVersion[] }>({ versions, ...row }: Row) {
  return { ...row, latestVersion: findLatest(versions)?.version ?? null };
}

/** A version as its readers see it. */
export interface VersionSummary {
  readonly id: string;
  readonly templateId: string;
  readonly version: string;
  readonly executor: ExecutorKind;
  readonly digest: string;
  readonly commit: string | null;
  readonly changelog: string;
  readonly publishedBy: { readonly id: string; readonly name: string };
  readonly createdAt: string;
  readonly yankedAt: string | null;
}

/** A page of the versions of a template, last published first. */
export function listVersions(em: Em, templateId: string, request: PageRequest): Promise<Page<VersionSummary>> {
  return pageOf(selectVersions(em).where('v.template_id', '=', templateId), 'v.id', request);
}

export interface VersionDetails extends VersionSummary {
  readonly spec: Record<string, unknown>;
  /** The paths of the files that a run gets. */
  readonly files: string[];
}

/** One version with its spec, by the id of its row. */
export function readVersion(em: Em, id: string): Promise<VersionDetails | undefined> {
  return selectVersions(em)
    .where('v.id', '=', id)
    .select('v.spec')
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
  return db(em)
    .selectFrom('template_versions as v')
    .select(['v.id', 'v.template_id as templateId', 'v.version', 'v.digest', 'v.commit', 'v.changelog'])
    .select(['v.created_at as createdAt', 'v.yanked_at as yankedAt'])
    .select((eb) => {
      const name = eb.selectFrom('principals as p').whereRef('p.id', '=', 'v.published_by').select('p.name');
      return [
        sql<ExecutorKind>`${eb.ref('v.spec')} #>> '{executor,kind}'`.as('executor'),
        sql<{ id: string; name: string }>`
          jsonb_build_object('id', ${eb.ref('v.published_by')}, 'name', coalesce(${name}, ''))`.as('publishedBy'),
      ];
    });
}
