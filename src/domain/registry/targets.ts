import type { Archivable } from '#domain/organizations/lifecycle.ts';
import { findTeamById } from '#domain/organizations/targets.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Em } from '#domain/shared/database.ts';
import type { RowLock } from '#domain/shared/row-lock.ts';
import { Template, TemplateVersion } from './entity.ts';

/** Where a template belongs, or would: a team's, or nobody's and so the whole installation's. */
export type TemplateOwner = Ownership & Archivable;

/** A template with its owner; `archived` is about the owner alone. */
export interface TemplateTarget extends TemplateOwner {
  readonly template: Template;
}

export interface VersionTarget extends TemplateTarget {
  readonly version: TemplateVersion;
}

const nobody: TemplateOwner = { organizationId: null, teamId: null, archived: [] };

/** The owner of a new template; undefined where there is no such team. */
export async function findOwner(em: Em, teamId: string | null, lock: boolean): Promise<TemplateOwner | undefined> {
  return teamId === null ? nobody : findTeamById(em, teamId, lock);
}

/** A template by its id, with its owner's rows locked before its own where asked; undefined where either is gone. */
export async function findTemplate(em: Em, id: string, lock: RowLock = false): Promise<TemplateTarget | undefined> {
  const known = await em.findOne(Template, { id, deletedAt: null });
  const owner = known && (await findOwner(em, known.teamId ?? null, lock !== false));
  if (!known || !owner) return undefined;
  const { organizationId, teamId, archived } = owner;
  const target = { organizationId, teamId, archived };
  if (lock === false) return { ...target, template: known };
  await em.execute(`select 1 from templates where id = ? for ${lock === 'change' ? 'no key update' : 'share'}`, [id]);
  const template = await em.findOne(Template, { id, deletedAt: null }, { refresh: true });
  return template ? { ...target, template } : undefined;
}

/** A version by its exact name, with its template. */
export async function findVersion(
  em: Em,
  { id, version }: { id: string; version: string },
  lock: RowLock = false,
): Promise<VersionTarget | undefined> {
  const target = await findTemplate(em, id, lock);
  const found = target && (await em.findOne(TemplateVersion, { templateId: id, version }));
  return found ? { ...target, version: found } : undefined;
}
