import type { Em } from '#database/database.ts';
import { findRow, lockClause, type RowLock } from '#database/row-lock.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { type Archivable, tenancy } from '#domain/tenancy/archiving.ts';

/** A project as decisions and answers need it. Times are PostgreSQL's text of them. */
export interface ProjectTarget extends Ownership, Archivable {
  readonly id: string;
  readonly organizationId: string;
  readonly teamId: string;
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly eligibilityGeneration: number;
  readonly revision: number;
  readonly createdAt: string;
  readonly archivedAt: string | null;
}

const projects = tenancy('project');

/** Every project there is; a list adds its conditions on `o`, `t` and `p`. */
export const selectProjects = `
  select p.id, o.id as "organizationId", t.id as "teamId", p.name, p.slug, p.description,
         p.eligibility_generation as "eligibilityGeneration", p.revision, p.created_at as "createdAt",
         p.archived_at as "archivedAt", ${projects.archived}
    from organizations o join teams t on t.organization_id = o.id join projects p on p.team_id = t.id
   where ${projects.present}`;

/** A project by its id, locked with its owners where asked; undefined where it, or what owns it, is gone. */
export async function findProject(em: Em, id: string, lock: RowLock = false): Promise<ProjectTarget | undefined> {
  return findRow(em, lock, `${selectProjects} and p.id = ?${lockClause(projects.aliases, lock)}`, [id]);
}
