import type { Em } from '#domain/shared/database.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { type Archivable, refuseArchivedOwner, type TenantLevel } from './lifecycle.ts';

const tables: Record<TenantLevel, string> = {
  organization: 'organizations',
  team: 'teams',
  project: 'projects',
  environment: 'environments',
};

/** Which instances (`i`) and runs (`r`) belong to a level; both have the columns that these conditions name. */
const belonging: Record<TenantLevel, string> = {
  organization: 'x.team_id in (select t.id from teams t where t.organization_id = ?)',
  team: 'x.team_id = ?',
  project: 'x.environment_id in (select e.id from environments e where e.project_id = ?)',
  environment: 'x.environment_id = ?',
};

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
    `update ${tables[level]} set archived_at = clock_timestamp(), revision = revision + 1,
            eligibility_generation = eligibility_generation + 1 where id = ?`,
    [target.id],
  );
  return true;
}

/** Takes it out of the archive; false where it was not archived. @throws Conflict while what owns it is archived */
export async function unarchive(em: Em, level: TenantLevel, target: Owned): Promise<boolean> {
  if (target.archivedAt === null) return false;
  refuseArchivedOwner(target, level);
  await em.execute(`update ${tables[level]} set archived_at = null, revision = revision + 1 where id = ?`, [target.id]);
  return true;
}

const named = 5;

async function refuseInUse(em: Em, level: TenantLevel, id: string): Promise<void> {
  const instances = await em.execute<{ name: string }[]>(
    `select x.name from instances x where ${belonging[level]} and x.resource_count > 0 order by x.id limit ?`,
    [id, named + 1],
  );
  if (instances.length > 0) {
    const names = instances.map(({ name }) => `"${name}"`);
    throw new Conflict(`the ${level} has instances that still hold resources: ${enumerate(names)}; destroy them first`);
  }
  const runs = await em.execute<{ id: string }[]>(
    `select x.id from runs x where ${belonging[level]} and x.finished_at is null order by x.id limit ?`,
    [id, named + 1],
  );
  if (runs.length === 0) return;
  const ids = runs.map((run) => run.id);
  throw new Conflict(`the ${level} has runs that have not ended: ${enumerate(ids)}; cancel them or let them end first`);
}

function enumerate(names: readonly string[]): string {
  return names.length > named ? `${names.slice(0, named).join(', ')} and more` : names.join(', ');
}
