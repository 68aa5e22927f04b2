import { refuseArchived } from '#domain/organizations/lifecycle.ts';
import { slugify } from '#domain/organizations/model.ts';
import type { Owner } from '#domain/organizations/targets.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { brokenConstraint } from '#domain/shared/sql.ts';
import type { Transaction } from '#domain/shared/transaction.ts';
import { Template } from './entity.ts';
import { SlugTaken, TemplateArchived } from './errors.ts';
import type { CreateTemplate, UpdateTemplate } from './model.ts';

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
  await flushSlug(tx, slug);
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
  await flushSlug(tx, slug);
}

/** Archives or unarchives; repeating it changes nothing. The caller has locked the row. */
export async function setArchived(tx: Transaction, template: Template, isArchived: boolean): Promise<void> {
  if (Boolean(template.archivedAt) === isArchived) return;
  template.archivedAt = isArchived ? new Date() : null;
  template.revision += 1;
  await tx.em.flush();
}

async function flushSlug(tx: Transaction, slug: string): Promise<void> {
  try {
    await tx.em.flush();
  } catch (error) {
    if (brokenConstraint(error) === 'templates_team_slug_unique') throw new SlugTaken(slug);
    throw error;
  }
}
