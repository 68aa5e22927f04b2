import type { Em } from '#database/database.ts';
import { addMember, ensureOrganizationMember } from '#domain/memberships/store.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { newId } from '#domain/shared/ids.ts';
import { reportingSlugConflict } from '#domain/shared/ownership-graph/slugs.ts';
import { type Difference, findDifference, readBack, refuseStale, saveChange } from '#domain/shared/revisions.ts';
import type { NewNamed, Renaming } from '#domain/tenancy/model.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Team } from './entity.ts';
import { findTeamById, insertTeam, type TeamTarget } from './store.ts';

/**
 * Creates a team that its creator owns. Members of a team are members of its organization, so a platform administrator who is no member of
 * it becomes one.
 */
export async function createTeam(
  em: Em,
  creator: Principal,
  organization: OrganizationTarget,
  request: NewNamed,
): Promise<TeamTarget> {
  refuseArchived(organization);
  const id = newId();
  const slug = chooseSlug(request);
  await reportingSlugConflict('team', slug, () =>
    insertTeam(em, { id, organizationId: organization.id, name: request.name, slug }),
  );
  // The command has locked the creator's row for share, so nobody can end the creator's memberships at the same time.
  await ensureOrganizationMember(em, organization.id, creator.id);
  await addMember(em, 'team', { ownerId: id, principalId: creator.id, role: 'owner' });
  return readBack(findTeamById(em, id));
}

type Named = Pick<TeamTarget, 'name' | 'slug'>;

/** Renames a team. @throws Conflict for a stale revision, an archived team or organization, or a slug that is taken */
export async function updateTeam(
  em: Em,
  team: TeamTarget,
  { expectedRevision, ...wanted }: Renaming,
): Promise<{ updated: TeamTarget; difference: Difference<Named> }> {
  refuseArchived(team);
  refuseStale(team, expectedRevision);
  const difference = findDifference<Named>({ name: team.name, slug: team.slug }, wanted);
  if (difference.isEmpty) return { updated: team, difference };
  const { after } = difference;
  await reportingSlugConflict('team', after.slug ?? team.slug, () => saveChange(em, Team, team, after));
  return { updated: await readBack(findTeamById(em, team.id)), difference };
}
