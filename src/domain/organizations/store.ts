import { type Kysely, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockRows, type RowLock, toChange } from '#database/row-lock.ts';
import type { RowOf } from '#database/tables.ts';
import { db, type Over } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { lockPrincipals } from '#domain/shared/access/authority-lock.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { ArchivedFilter } from '#domain/shared/archiving.ts';
import { isId } from '#domain/shared/ids.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { archivedComparison, archivedLevels } from '#domain/tenancy/store.ts';
import { Organization } from './entity.ts';

/** The organizations that are not deleted, as `o`. */
export function presentOrganizations(queries: Kysely<Tables>) {
  return queries.selectFrom('organizations as o').where('o.deletedAt', 'is', null);
}

function selectOrganizations(em: Em) {
  return presentOrganizations(db(em))
    .select([
      'o.id',
      'o.id as organizationId',
      'o.name',
      'o.slug',
      'o.eligibilityGeneration',
      'o.revision',
      'o.createdAt',
      'o.archivedAt',
    ])
    .select(sql<null>`null`.as('teamId'))
    .select((eb) => archivedLevels({ organization: eb.ref('o.archivedAt') }).as('archived'));
}

/** The columns of an organization for authorization and answers. */
export type OrganizationTarget = RowOf<typeof selectOrganizations>;

/**
 * The condition that an id or a slug, current or former, names the organization. An id takes precedence over a
 * slug that looks like it; an id that no organization has is looked up among the slugs. (specification, *Resource
 * names*)
 */
export function isOrganizationNamed(idOrSlug: string) {
  return (eb: Over<{ o: 'organizations' }>) => {
    const bySlug = eb.selectFrom('organization_slugs as s').where('s.slug', '=', idOrSlug).select('s.organizationId');
    if (!isId(idOrSlug)) return eb('o.id', '=', bySlug);
    const byId = eb
      .selectFrom('organizations as i')
      .where('i.id', '=', idOrSlug)
      .where('i.deletedAt', 'is', null)
      .select('i.id');
    return eb('o.id', '=', eb.fn.coalesce(byId, bySlug));
  };
}

/** An organization by id or slug; undefined if there is none. `lock` locks its row. */
export function findOrganization(
  em: Em,
  idOrSlug: string,
  lock: RowLock = false,
): Promise<OrganizationTarget | undefined> {
  const named = selectOrganizations(em).where(isOrganizationNamed(idOrSlug));
  return lockRows(named, ['o'], lock).executeTakeFirst();
}

/** The organization that a command changes. `lock` locks its row for the change. */
export function findOrganizationToChange(em: Em, idOrSlug: string, lock: boolean) {
  return findOrganization(em, idOrSlug, toChange(lock));
}

/** The principal's organizations; for a platform administrator, all organizations. */
export function listOrganizations(
  em: Em,
  principal: Principal,
  request: PageRequest & ArchivedFilter,
): Promise<Page<OrganizationTarget>> {
  const listed = selectOrganizations(em).where('o.archivedAt', archivedComparison(request), null);
  if (isPlatformAdministrator(principal)) return pageOf(listed, 'o.id', request);
  const own = Object.keys(principal.organizations);
  return pageOf(
    listed.where('o.id', '=', (eb) => eb.fn.any(eb.val(own))),
    'o.id',
    request,
  );
}

export async function insertOrganization(
  em: Em,
  organization: { id: string; name: string; slug: string },
): Promise<void> {
  await em.persist(em.create(Organization, organization)).flush();
}

/** Takes share locks on the organizations with these ids until the commit, in the order of their ids. */
export async function shareOrganizations(em: Em, ids: readonly string[]): Promise<void> {
  const organizations = db(em)
    .selectFrom('organizations')
    .where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .orderBy('id')
    .select('id');
  await lockRows(organizations, ['organizations'], true).execute();
}

/** A user to whom an organization is to be transferred. */
export interface TransferRecipient {
  readonly id: string;
  readonly enabled: boolean;
}

/** The users with these ids, in the order of their ids. `lock` locks them for a change of their authority. */
export async function findUsers(em: Em, ids: readonly string[], lock: boolean): Promise<TransferRecipient[]> {
  const locked = lock && lockPrincipals(em, { ids });
  const found = db(em)
    .selectFrom('principals')
    .where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .where('kind', '=', 'user')
    .where('deletedAt', 'is', null)
    .orderBy('id')
    .select(['id', 'enabled'])
    .execute();
  const [users] = await Promise.all([found, locked]);
  return users;
}
