import type { Em } from '#database/database.ts';
import { findRow, lockClause, type RowLock } from '#database/row-lock.ts';
import { organizationNamed } from '#domain/organizations/store.ts';
import { nobody, type Ownership } from '#domain/shared/access/decide.ts';
import { type Archivable, tenancy } from '#domain/tenancy/archiving.ts';

export interface TeamTarget extends Ownership, Archivable {
  readonly id: string;
  readonly organizationId: string;
  readonly teamId: string;
  readonly name: string;
  readonly slug: string;
  readonly eligibilityGeneration: number;
  readonly revision: number;
  readonly createdAt: string;
  readonly archivedAt: string | null;
}

const teams = tenancy('team');

/** Every team there is; a list adds its conditions on `o` and `t`. */
export const selectTeams = `
  select t.id, o.id as "organizationId", t.id as "teamId", t.name, t.slug,
         t.eligibility_generation as "eligibilityGeneration", t.revision, t.created_at as "createdAt",
         t.archived_at as "archivedAt", ${teams.archived}
    from organizations o join teams t on t.organization_id = o.id where ${teams.present}`;

/** A team of an organization; undefined where either is gone, or where the team is another organization's. */
export async function findTeam(
  em: Em,
  { organization, id }: { organization: string; id: string },
  lock: RowLock = false,
): Promise<TeamTarget | undefined> {
  const named = organizationNamed(organization);
  const rows = await em.execute<TeamTarget[]>(
    `${selectTeams} and t.id = ? and o.id = ${named.sql}${lockClause(teams.aliases, lock)}`,
    [id, ...named.params],
  );
  return rows[0];
}

/** Who owns what names a team, or none: nobody, and so the whole installation. */
export type Owner = Ownership & Archivable;

/** The team that a request names, or nobody where it names none; undefined where there is no such team. */
export async function findOwner(
  em: Em,
  teamId: string | null | undefined,
  lock: RowLock = false,
): Promise<Owner | undefined> {
  return teamId ? findTeamById(em, teamId, lock) : { ...nobody, archived: [] };
}

/** A team by its id alone, as whatever belongs to one names it. */
export async function findTeamById(em: Em, id: string, lock: RowLock = false): Promise<TeamTarget | undefined> {
  return findRow(em, lock, `${selectTeams} and t.id = ?${lockClause(teams.aliases, lock)}`, [id]);
}
