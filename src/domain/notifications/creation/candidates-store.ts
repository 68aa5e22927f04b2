import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findAdministrators } from '#domain/identity/users/store.ts';

/** The members of a team, in any role. */
export async function findTeamMembers(em: Em, teamId: string | null): Promise<string[]> {
  if (teamId === null) return findAdministrators(em);
  const rows = await db(em)
    .selectFrom('team_members')
    .where('teamId', '=', teamId)
    .select('principalId as id')
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Those who administer what an owner owns: owners and admins of the team, else of the organization, else the administrators of the
 * installation.
 */
export async function findManagers(
  em: Em,
  { organizationId, teamId }: { readonly organizationId: string | null; readonly teamId: string | null },
): Promise<string[]> {
  if (teamId !== null) {
    const rows = await db(em)
      .selectFrom('team_members')
      .where('teamId', '=', teamId)
      .where('role', 'in', ['owner', 'admin'])
      .select('principalId as id')
      .execute();
    return rows.map(({ id }) => id);
  }
  if (organizationId === null) return findAdministrators(em);
  const rows = await db(em)
    .selectFrom('organization_members')
    .where('organizationId', '=', organizationId)
    .where('role', 'in', ['owner', 'admin'])
    .select('principalId as id')
    .execute();
  return rows.map(({ id }) => id);
}
