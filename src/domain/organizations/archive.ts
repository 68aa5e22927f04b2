import type { Em } from '#domain/shared/database.ts';
import { type Archivable, refuseArchivedOwner, type TenantLevel, tableOf } from './lifecycle.ts';
import { refuseInUse } from './obstacles.ts';

interface Owned extends Archivable {
  readonly id: string;
  readonly archivedAt: string | null;
}

/**
 * Archives what is not in use. What was granted against an earlier generation of it never revives. False where it was
 * archived already. The caller holds the row to change it, so that nothing starts in it meanwhile.
 * @throws Conflict naming the instances that still hold resources, or the runs that have not ended
 */
export async function archive(em: Em, level: TenantLevel, target: Owned): Promise<boolean> {
  if (target.archivedAt !== null) return false;
  await refuseInUse(em, level, target.id);
  await em.execute(
    `update ${tableOf[level]} set archived_at = clock_timestamp(), revision = revision + 1,
            eligibility_generation = eligibility_generation + 1 where id = ?`,
    [target.id],
  );
  return true;
}

/** Takes it out of the archive; false where it was not archived. @throws Conflict while what owns it is archived */
export async function unarchive(em: Em, level: TenantLevel, target: Owned): Promise<boolean> {
  if (target.archivedAt === null) return false;
  refuseArchivedOwner(target, level);
  await em.execute(`update ${tableOf[level]} set archived_at = null, revision = revision + 1 where id = ?`, [
    target.id,
  ]);
  return true;
}
