import type { Em } from '#database/database.ts';
import type { RowLock } from '#database/row-lock.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { findOwner, type Owner } from '#domain/teams/store.ts';
import { Template, TemplateVersion } from './entity.ts';

/** A template with its owner; `archived` is about the owner alone. */
export interface TemplateTarget extends Owner {
  readonly template: Template;
}

export interface VersionTarget extends TemplateTarget {
  readonly version: TemplateVersion;
}

/** A template by its id, with its owner's rows locked before its own where asked; undefined where either is gone. */
export async function findTemplate(em: Em, id: string, lock: RowLock = false): Promise<TemplateTarget | undefined> {
  const known = await em.findOne(Template, { id, deletedAt: null });
  const owner = known && (await findOwner(em, known.teamId, lock !== false));
  if (!known || !owner) return undefined;
  const { organizationId, teamId, archived } = owner;
  const target = { organizationId, teamId, archived };
  if (lock === false) return { ...target, template: known };
  await em.execute(`select 1 from templates where id = ? for ${lock === 'change' ? 'no key update' : 'share'}`, [id]);
  const template = await em.findOne(Template, { id, deletedAt: null }, { refresh: true });
  return template ? { ...target, template } : undefined;
}

/** Whose a template is, in one query; undefined where it, or what owns it, is gone. */
export async function findTemplateOwner(em: Em, id: string): Promise<Ownership | undefined> {
  const rows = await em.execute<Ownership[]>(
    `select m.id as "teamId", o.id as "organizationId"
       from templates t left join teams m on m.id = t.team_id and m.deleted_at is null
            left join organizations o on o.id = m.organization_id and o.deleted_at is null
      where t.id = ? and t.deleted_at is null and (t.team_id is null or o.id is not null)`,
    [id],
  );
  return rows[0];
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
