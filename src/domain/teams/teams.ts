import type { z } from 'zod';
import type { Em } from '#database/database.ts';
import { TeamMember } from '#domain/members/entity.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import { readableTeamsSql } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { newId } from '#domain/shared/ids.ts';
import { selectPage } from '#domain/shared/list.ts';
import { underSlug } from '#domain/shared/ownership-graph/slugs.ts';
import { type Page, type PageRequest, Where } from '#domain/shared/paging.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import { type ArchivedFilter, filterArchived, refuseArchived } from '#domain/tenancy/archiving.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Team } from './entity.ts';
import type { CreateTeam, UpdateTeam } from './model.ts';
import { findTeamById, selectTeams, type TeamTarget } from './store.ts';

/**
 * Makes a team that its creator owns. A platform administrator who is not in the organization joins it as a member:
 * whoever is in a team is in its organization.
 */
export async function createTeam(
  em: Em,
  creator: Principal,
  organization: OrganizationTarget,
  request: z.output<typeof CreateTeam>,
): Promise<TeamTarget> {
  refuseArchived(organization);
  const id = newId();
  const slug = chooseSlug(request);
  const team = em.create(Team, { id, organizationId: organization.id, name: request.name, slug });
  await underSlug('team', slug, () => em.persist(team).flush());
  // The creator's row is share-locked by the command, which keeps every removal of its memberships waiting.
  await em.execute(
    `insert into organization_members (id, organization_id, principal_id, role, created_at)
     values (?, ?, ?, 'member', clock_timestamp()) on conflict (principal_id, organization_id) do nothing`,
    [newId(), organization.id, creator.id],
  );
  const member = em.create(TeamMember, { id: newId(), teamId: id, principalId: creator.id, role: 'owner' });
  await em.persist(member).flush();
  return readBack(findTeamById(em, id));
}

type Named = Pick<TeamTarget, 'name' | 'slug'>;

/** Renames a team. @throws Conflict for a stale revision, something archived, or a slug that is taken */
export async function updateTeam(
  em: Em,
  team: TeamTarget,
  { expected_revision: expected, ...wanted }: z.output<typeof UpdateTeam>,
): Promise<{ updated: TeamTarget; difference: Difference<Named> }> {
  refuseArchived(team);
  refuseStale(team, expected);
  const difference = findDifference<Named>({ name: team.name, slug: team.slug }, wanted);
  if (difference.isEmpty) return { updated: team, difference };
  const { after } = difference;
  await underSlug('team', after.slug ?? team.slug, () =>
    em.nativeUpdate(Team, { id: team.id }, { ...after, revision: team.revision + 1 }),
  );
  return { updated: await readBack(findTeamById(em, team.id)), difference };
}

/** The teams of an organization that the principal may read. */
export function listTeams(
  em: Em,
  principal: Principal,
  organization: OrganizationTarget,
  request: PageRequest & ArchivedFilter,
): Promise<Page<TeamTarget>> {
  const readable = readableTeamsSql(principal, 't.id', 'hidden');
  const where = filterArchived(new Where(), 'team', request)
    .and('o.id = ?', organization.id)
    .and(readable.sql, ...readable.params);
  return selectPage(em, selectTeams, where, 't.id', request);
}
