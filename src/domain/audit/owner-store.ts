import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** The actor of a record, and the owners that it names. */
export function findRecordOwners(em: Em, id: string) {
  return db(em)
    .selectFrom('audit_records')
    .where('id', '=', id)
    .select(['actorId', 'organizationId', 'teamId'])
    .executeTakeFirst();
}

/** The organization of a team, even of a deleted one. */
export function findOrganizationOfTeam(em: Em, id: string) {
  return db(em).selectFrom('teams').where('id', '=', id).select('organizationId').executeTakeFirst();
}

export async function hasOrganization(em: Em, id: string): Promise<boolean> {
  const found = await db(em).selectFrom('organizations').where('id', '=', id).select('id').executeTakeFirst();
  return found !== undefined;
}

/** Whether a team was transferred from an organization. Both of them have a record of it. */
export async function hasLeft(em: Em, teamId: string, organizationId: string): Promise<boolean> {
  const found = await db(em)
    .selectFrom('audit_records')
    .where('resourceId', '=', teamId)
    .where('action', '=', 'team.transferred')
    .where('outcome', '=', 'committed')
    .where('organizationId', '=', organizationId)
    .select('id')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
