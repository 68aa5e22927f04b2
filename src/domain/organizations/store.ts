import type { Em } from '#database/database.ts';
import { lockClause, type RowLock } from '#database/row-lock.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { isId } from '#domain/shared/ids.ts';
import { selectBySlug } from '#domain/shared/ownership-graph/slugs.ts';
import { type Archivable, tenancy } from '#domain/tenancy/archiving.ts';

/** An organization as decisions and answers need it. Times are PostgreSQL's text of them. */
export interface OrganizationTarget extends Ownership, Archivable {
  readonly id: string;
  readonly organizationId: string;
  readonly teamId: null;
  readonly name: string;
  readonly slug: string;
  readonly eligibilityGeneration: number;
  readonly revision: number;
  readonly createdAt: string;
  readonly archivedAt: string | null;
}

const organizations = tenancy('organization');

/** Every organization there is; a list adds its conditions on `o`. */
export const selectOrganizations = `
  select o.id, o.id as "organizationId", null as "teamId", o.name, o.slug,
         o.eligibility_generation as "eligibilityGeneration", o.revision, o.created_at as "createdAt",
         o.archived_at as "archivedAt", ${organizations.archived}
    from organizations o where ${organizations.present}`;

/**
 * The id of the organization that an id or a slug, current or historical, names. An id takes precedence over a slug that
 * looks like it; only an id that nobody has falls back to slugs. (specification, *can-i*, resource-name rules)
 */
export function organizationNamed(idOrSlug: string): { sql: string; params: string[] } {
  const bySlug = selectBySlug('organization');
  if (!isId(idOrSlug)) return { sql: bySlug, params: [idOrSlug] };
  const byId = `(select i.id from organizations i where i.id = ? and i.deleted_at is null)`;
  return { sql: `coalesce(${byId}, ${bySlug})`, params: [idOrSlug, idOrSlug] };
}

/** An organization by id or slug, locked where asked; undefined where there is none. */
export async function findOrganization(
  em: Em,
  idOrSlug: string,
  lock: RowLock = false,
): Promise<OrganizationTarget | undefined> {
  const named = organizationNamed(idOrSlug);
  const rows = await em.execute<OrganizationTarget[]>(
    `${selectOrganizations} and o.id = ${named.sql}${lockClause(organizations.aliases, lock)}`,
    named.params,
  );
  return rows[0];
}
