import type { Expression } from 'kysely';
import type { Em } from '#database/database.ts';
import { takeQuota } from '#domain/quotas/use/take.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { archive, unarchive } from '#domain/shared/ownership-graph/archiving.ts';
import { findUse, type ShowsNames, type Used } from '#domain/shared/ownership-graph/blockers.ts';
import { deleteOwned } from '#domain/shared/ownership-graph/deletion.ts';
import { reportingSlugConflict } from '#domain/shared/ownership-graph/slugs.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import type { Owner } from '#domain/teams/store.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Template } from './entity.ts';
import type { NewTemplate, TemplateChange } from './model.ts';
import type { TemplateTarget } from './store.ts';

/** How a refused deletion or archiving shows what uses the template: names that the principal may read, and the number of the others. */
function namesShownTo(principal: Principal): ShowsNames {
  return (_kind, row) => isInReadableTeam(principal, row('teamId') as Expression<string | null>, 'visible');
}

/** Creates a template under its owner, whose rows the caller has locked. @throws Conflict */
export async function createTemplate(
  tx: Transaction,
  owner: Owner,
  { name, slug: wanted, ...described }: NewTemplate,
): Promise<Template> {
  refuseArchived(owner);
  const slug = chooseSlug({ name, slug: wanted });
  const template = tx.em.create(Template, { id: newId(), teamId: owner.teamId, name, slug, ...described });
  tx.em.persist(template);
  await reportingSlugConflict('template', slug, () => tx.em.flush());
  await takeQuota(tx, owner, { templates: 1 });
  return template;
}

/**
 * Changes the fields that are present; the caller has locked the row.
 * @throws Conflict for a stale revision, something archived, or a slug that is taken
 */
export async function updateTemplate(
  tx: Transaction,
  target: TemplateTarget,
  { expectedRevision, ...wanted }: TemplateChange,
): Promise<void> {
  const { template } = target;
  refuseArchived(target);
  refuseStale(template, expectedRevision);
  if (template.change(wanted)) await reportingSlugConflict('template', template.slug, () => tx.em.flush());
}

/** Archives a template; repeating it changes nothing. The caller has locked the row. */
export async function archiveTemplate({ em }: Transaction, { template, archived }: TemplateTarget): Promise<void> {
  const { id, archivedAt = null } = template;
  if (await archive(em, 'template', { id, archivedAt, archived })) await em.refresh(template);
}

/** Makes an archived template active again. The caller has locked the row. @throws Conflict while its owner is archived */
export async function unarchiveTemplate({ em }: Transaction, { template, archived }: TemplateTarget): Promise<void> {
  const { id, archivedAt = null } = template;
  if (await unarchive(em, 'template', { id, archivedAt, archived })) await em.refresh(template);
}

/**
 * Deletes a template that nothing uses, and returns its last revision. Its slug is free again. Its versions stay, because runs name the
 * version that they ran. The caller has locked the row.
 * @throws Conflict for a stale revision, or naming what uses it: uses that the principal may not read are only counted
 */
export function deleteTemplate(
  { em }: Transaction,
  principal: Principal,
  { template: { id, revision } }: TemplateTarget,
  expectedRevision: number | undefined,
): Promise<number> {
  refuseStale({ revision }, expectedRevision);
  return deleteOwned(em, 'template', { id }, namesShownTo(principal));
}

/** Reads what uses a template. */
export function findTemplateUse(em: Em, principal: Principal, id: string): Promise<Used> {
  return findUse(em, 'template', id, { showsNames: namesShownTo(principal) });
}
