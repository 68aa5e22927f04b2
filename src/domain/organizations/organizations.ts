import type { Em } from '#database/database.ts';
import { addMember } from '#domain/memberships/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { newId } from '#domain/shared/ids.ts';
import { claimSlug } from '#domain/shared/ownership-graph/slugs.ts';
import { type Difference, findDifference, readBack, refuseStale, saveChange } from '#domain/shared/revisions.ts';
import type { NewNamed, Renaming } from '#domain/tenancy/model.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Organization } from './entity.ts';
import { findOrganization, insertOrganization, type OrganizationTarget } from './store.ts';

/** Creates an organization that its creator owns. @throws Conflict if another one has or had the slug */
export async function createOrganization(em: Em, creator: Principal, request: NewNamed): Promise<OrganizationTarget> {
  const id = newId();
  const slug = chooseSlug(request);
  await insertOrganization(em, { id, name: request.name, slug });
  await claimSlug(em, 'organization', id, slug);
  await addMember(em, 'organization', { ownerId: id, principalId: creator.id, role: 'owner' });
  return readBack(findOrganization(em, id));
}

type Named = Pick<OrganizationTarget, 'name' | 'slug'>;

/** Renames an organization. @throws Conflict for a stale revision, an archived organization, or a slug that is taken */
export async function updateOrganization(
  em: Em,
  organization: OrganizationTarget,
  { expectedRevision, ...wanted }: Renaming,
): Promise<{ updated: OrganizationTarget; difference: Difference<Named> }> {
  refuseArchived(organization);
  refuseStale(organization, expectedRevision);
  const difference = findDifference<Named>({ name: organization.name, slug: organization.slug }, wanted);
  if (difference.isEmpty) return { updated: organization, difference };
  if (difference.after.slug !== undefined) await claimSlug(em, 'organization', organization.id, difference.after.slug);
  await saveChange(em, Organization, organization, difference.after);
  return { updated: await readBack(findOrganization(em, organization.id)), difference };
}
