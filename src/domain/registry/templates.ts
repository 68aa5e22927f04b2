import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { archive, unarchive } from '#domain/shared/ownership-graph/archiving.ts';
import { underSlug } from '#domain/shared/ownership-graph/slugs.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import type { Owner } from '#domain/teams/store.ts';
import { refuseArchived } from '#domain/tenancy/archiving.ts';
import { slugify } from '#domain/tenancy/model.ts';
import { Template } from './entity.ts';
import { TemplateArchived } from './errors.ts';
import type { CreateTemplate, UpdateTemplate } from './model.ts';
import type { TemplateTarget } from './targets.ts';

/** Makes a template under its owner, whose rows the caller has locked. @throws Conflict */
export async function createTemplate(
  tx: Transaction,
  owner: Owner,
  { name, slug: wanted, description, tags }: CreateTemplate,
): Promise<Template> {
  refuseArchived(owner);
  const slug = wanted ?? slugify(name);
  if (slug === '') throw new Invalid('slug: none can be made from the name, so give one such as "core-network"');
  const template = tx.em.create(Template, { id: newId(), teamId: owner.teamId, name, slug, description, tags });
  tx.em.persist(template);
  await underSlug('template', slug, () => tx.em.flush());
  return template;
}

/** Changes what is given and keeps the rest; the caller has locked the row. @throws Conflict */
export async function updateTemplate(tx: Transaction, template: Template, request: UpdateTemplate): Promise<void> {
  refuseStale(template, request.expected_revision);
  if (template.archivedAt) throw new TemplateArchived();
  const { name = template.name, slug = template.slug } = request;
  const { description = template.description, tags = template.tags } = request;
  const before = JSON.stringify([template.name, template.slug, template.description, template.tags]);
  if (JSON.stringify([name, slug, description, tags]) === before) return;
  Object.assign(template, { name, slug, description, tags, revision: template.revision + 1 });
  await underSlug('template', slug, () => tx.em.flush());
}

/** Archives a template; repeating it changes nothing. The caller has locked the row. */
export async function archiveTemplate({ em }: Transaction, { template, archived }: TemplateTarget): Promise<void> {
  const { id, archivedAt = null } = template;
  if (await archive(em, 'template', { id, archivedAt, archived })) await em.refresh(template);
}

/** The same for taking it out of the archive, also while the team that owns it is archived. */
export async function unarchiveTemplate({ em }: Transaction, { template }: TemplateTarget): Promise<void> {
  const { id, archivedAt = null } = template;
  if (await unarchive(em, 'template', { id, archivedAt, archived: [] })) await em.refresh(template);
}
