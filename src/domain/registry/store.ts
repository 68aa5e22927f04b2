import { type Expression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { findForChange, lockRows } from '#database/row-lock.ts';
import { db, prepare } from '#domain/db.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { TemplateApproval } from '#domain/shared/vocabulary/approval.ts';
import { findTeamOrInstallation, type Owner } from '#domain/teams/store.ts';
import { Template, TemplateVersion } from './entity.ts';
import type { AvailableVersion } from './versions.ts';

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
  const template = await findForChange(em, Template, { id, deletedAt: null });
  return template ? toTarget(owner, template) : undefined;
}

function toTarget({ organizationId, teamId, archived }: Owner, template: Template): TemplateTarget {
  return { organizationId, teamId, archived: template.archivedAt ? [...archived, 'template'] : archived, template };
}

/** The owners of a template, in one query; undefined if the template or its owner is deleted. */
export function findTemplateOwner(em: Em, id: string): Promise<Ownership | undefined> {
  return db(em)
    .selectFrom('templates as t')
    .leftJoin('teams as m', (join) => join.onRef('m.id', '=', 't.teamId').on('m.deletedAt', 'is', null))
    .leftJoin('organizations as o', (join) => join.onRef('o.id', '=', 'm.organizationId').on('o.deletedAt', 'is', null))
    .where('t.id', '=', id)
    .where('t.deletedAt', 'is', null)
    .where((eb) => eb.or([eb('t.teamId', 'is', null), eb('o.id', 'is not', null)]))
    .select(['m.id as teamId', 'o.id as organizationId'])
    .executeTakeFirst();
}

/** Takes a share lock on the row of a template, so that it is not deleted before the commit. */
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
export function findAvailableVersions(em: Em, templateId: string): Promise<VersionRow[]> {
  return selectAvailableVersions(em, { templateId });
}

/** A version that a request may choose, with the id of its row. */
export type VersionRow = AvailableVersion & { readonly id: string };

/** The same versions as one value, for a statement that also does something else. */
export function availableVersionsOf(templateId: Expression<string>): Expression<VersionRow[]> {
  return sql<VersionRow[]>`(select coalesce(jsonb_agg(jsonb_build_object(
    'id', v.id, 'version', v.version, 'yanked', v.yanked_at is not null)), '[]')
    from template_versions v where v.template_id = ${templateId})`;
}

const selectAvailableVersions = prepare((db, parameter: ParameterOf<{ templateId: string }>) =>
  db
    .selectFrom('template_versions')
    .where('templateId', '=', parameter('templateId'))
    .select((eb) => ['id', 'version', eb('yankedAt', 'is not', null).$castTo<boolean>().as('yanked')]),
);

/** All versions of a template, yanked ones included, with the approval that each demands. */
export function listVersionApprovals(
  em: Em,
  templateId: string,
): Promise<{ version: string; approval: TemplateApproval | null }[]> {
  return db(em)
    .selectFrom('template_versions')
    .where('templateId', '=', templateId)
    .select(['version', sql<TemplateApproval | null>`spec -> 'approval'`.as('approval')])
    .execute();
}
