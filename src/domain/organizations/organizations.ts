import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import { pgArray } from '#database/errors.ts';
import { OrganizationMember } from '#domain/members/entity.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { newId } from '#domain/shared/ids.ts';
import { selectPage } from '#domain/shared/list.ts';
import { claimSlug } from '#domain/shared/ownership-graph/slugs.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import { type ArchivedFilter, filterArchived, refuseArchived } from '#domain/tenancy/archiving.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Organization } from './entity.ts';
import type { CreateOrganization, UpdateOrganization } from './model.ts';
import { findOrganization, type OrganizationTarget, selectOrganizations } from './store.ts';

/** Makes an organization that its creator owns. @throws Conflict where another one has or had the slug */
export async function createOrganization(
  em: Em,
  creator: Principal,
  request: z.output<typeof CreateOrganization>,
): Promise<OrganizationTarget> {
  const id = newId();
  const slug = chooseSlug(request);
  await em.persist(em.create(Organization, { id, name: request.name, slug })).flush();
  await claimSlug(em, 'organization', id, slug);
  const member = { id: newId(), organizationId: id, principalId: creator.id, role: 'owner' as const };
  await em.persist(em.create(OrganizationMember, member)).flush();
  return readBack(findOrganization(em, id));
}

type Named = Pick<OrganizationTarget, 'name' | 'slug'>;

/** Renames an organization. @throws Conflict for a stale revision, an archived organization, or a slug that is taken */
export async function updateOrganization(
  em: Em,
  organization: OrganizationTarget,
  { expected_revision: expected, ...wanted }: z.output<typeof UpdateOrganization>,
): Promise<{ updated: OrganizationTarget; difference: Difference<Named> }> {
  refuseArchived(organization);
  refuseStale(organization, expected);
  const difference = findDifference<Named>({ name: organization.name, slug: organization.slug }, wanted);
  if (difference.isEmpty) return { updated: organization, difference };
  if (difference.after.slug !== undefined) await claimSlug(em, 'organization', organization.id, difference.after.slug);
  const revision = organization.revision + 1;
  await em.nativeUpdate(Organization, { id: organization.id }, { ...difference.after, revision });
  return { updated: await readBack(findOrganization(em, organization.id)), difference };
}

/** The organizations that the principal is in; to platform administrators, all of them. */
export function listOrganizations(
  em: Em,
  principal: Principal,
  request: PageRequest & ArchivedFilter,
): Promise<Page<OrganizationTarget>> {
  const where = filterArchived(new Where(), 'organization', request);
  if (!isPlatformAdministrator(principal)) {
    where.and('o.id = any(?::uuid[])', pgArray(Object.keys(principal.organizations)));
  }
  return selectPage(em, selectOrganizations, where, 'o.id', request);
}
