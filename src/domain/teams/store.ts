import type { Kysely } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockRows, type RowLock, toChange } from '#database/row-lock.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { isOrganizationNamed, presentOrganizations } from '#domain/organizations/store.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { Archivable, ArchivedFilter } from '#domain/shared/archiving.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { archivedComparison, archivedLevels, prepareLookup } from '#domain/tenancy/store.ts';
import { Team } from './entity.ts';

/** Teams `t` with organization `o`. Omits rows that are deleted at either level. */
export function presentTeams(queries: Kysely<Tables>) {
  return presentOrganizations(queries)
    .innerJoin('teams as t', 't.organizationId', 'o.id')
    .where('t.deletedAt', 'is', null);
}

function selectTeams(queries: Kysely<Tables>) {
  return presentTeams(queries)
    .select([
      't.id',
      'o.id as organizationId',
      't.id as teamId',
      't.name',
      't.slug',
      't.eligibilityGeneration',
      't.revision',
      't.createdAt',
      't.archivedAt',
    ])
    .select((eb) =>
      archivedLevels({ organization: eb.ref('o.archivedAt'), team: eb.ref('t.archivedAt') }).as('archived'),
    );
}

/** The facts about a team that authorization and answers need. */
export type TeamTarget = RowOf<typeof selectTeams>;

/** A team of an organization; undefined if either was deleted, or if the team belongs to another organization. */
export function findTeam(
  em: Em,
  { organization, id }: { organization: string; id: string },
  lock: RowLock = false,
): Promise<TeamTarget | undefined> {
  const named = selectTeams(db(em)).where('t.id', '=', id).where(isOrganizationNamed(organization));
  return lockRows(named, ['o', 't'], lock).executeTakeFirst();
}

/** The team that a command changes. `lock` locks its row for the change. */
export function findTeamToChange(em: Em, path: { organization: string; id: string }, lock: boolean) {
  return findTeam(em, path, toChange(lock));
}

/** A team by its id alone; undefined if it or its organization was deleted. `lock` locks both rows. */
export const findTeamById = prepareLookup((queries, id, lock) =>
  lockRows(selectTeams(queries).where('t.id', '=', id), ['o', 't'], lock),
);

/** The owner of a resource that a team may own. Without a team, the installation owns it. */
export type Owner = Ownership & Archivable;

/** The team that a request names; the installation if it names none; undefined if there is no such team. */
export async function findTeamOrInstallation(
  em: Em,
  teamId: string | null | undefined,
  lock: RowLock = false,
): Promise<Owner | undefined> {
  return teamId ? findTeamById(em, teamId, lock) : { ...installationOwnership, archived: [] };
}

/** The teams of an organization that the principal may read. */
export function listTeams(
  em: Em,
  principal: Principal,
  organization: { readonly id: string },
  request: PageRequest & ArchivedFilter,
): Promise<Page<TeamTarget>> {
  const listed = selectTeams(db(em))
    .where('t.archivedAt', archivedComparison(request), null)
    .where('o.id', '=', organization.id)
    .where((eb) => isInReadableTeam(principal, eb.ref('t.id'), 'hidden'));
  return pageOf(listed, 't.id', request);
}

export async function insertTeam(
  em: Em,
  team: { id: string; organizationId: string; name: string; slug: string },
): Promise<void> {
  await em.persist(em.create(Team, team)).flush();
}

/** Locks the organizations of these teams, then the teams, for share until the commit, each in the order of their ids. */
export async function shareTeams(em: Em, ids: readonly string[]): Promise<void> {
  const organizations = db(em)
    .selectFrom('organizations')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('teams')
        .where('id', '=', (of) => of.fn.any(of.val(ids)))
        .select('organizationId'),
    )
    .orderBy('id')
    .select('id');
  await lockRows(organizations, ['organizations'], true).execute();
  const teams = db(em)
    .selectFrom('teams')
    .where('id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .orderBy('id')
    .select('id');
  await lockRows(teams, ['teams'], true).execute();
}
