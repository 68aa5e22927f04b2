import type { Em } from '#domain/shared/database.ts';
import { type TenantLevel, tableOf } from './lifecycle.ts';
import { refuseNotEmpty } from './obstacles.ts';

/** What goes with it: names, authority and secrets. Each statement takes the id. */
const goesAlong: Record<TenantLevel, readonly string[]> = {
  organization: [
    'delete from organization_slugs where organization_id = ?',
    'delete from organization_members where organization_id = ?',
    `update invitations set revoked_at = clock_timestamp()
      where organization_id = ? and accepted_at is null and revoked_at is null`,
  ],
  team: [
    'delete from team_members where team_id = ?',
    'update templates set deleted_at = clock_timestamp(), revision = revision + 1 where team_id = ? and deleted_at is null',
    `update invitations set revoked_at = clock_timestamp()
      where team_id = ? and accepted_at is null and revoked_at is null`,
  ],
  project: [],
  environment: ['delete from environment_variables where environment_id = ?'],
};

/**
 * Deletes what is empty and not in use. A tombstone stays: its name is free again, and history keeps the id. The caller
 * holds the row to change it, so that nothing is made and nothing starts in it meanwhile. Answers its last revision.
 * @throws Conflict naming everything that stands in the way
 */
export async function deleteTenant(em: Em, level: TenantLevel, { id }: { id: string }): Promise<number> {
  await refuseNotEmpty(em, level, id);
  for (const statement of goesAlong[level]) await em.execute(statement, [id]);
  const [row] = await em.execute<[{ revision: number }]>(
    `update ${tableOf[level]} set deleted_at = clock_timestamp(), revision = revision + 1,
            eligibility_generation = eligibility_generation + 1 where id = ? returning revision`,
    [id],
  );
  return row.revision;
}
