import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { PlannedWork } from '#domain/shared/schedules/scheduled-work.ts';
import { toPlannedWork } from '../monitors/scheduling.ts';

/**
 * Monitors that scan by their schedules: those whose instances hold resources, and whose owners are neither deleted nor archived. So scans of a
 * destroyed instance stop, and go on once it is deployed again.
 */
function selectPlanned(em: Em) {
  return db(em)
    .selectFrom('drift_monitors as m')
    .innerJoin('instances as i', 'i.id', 'm.instance_id')
    .leftJoin('environments as e', 'e.id', 'i.environment_id')
    .leftJoin('projects as p', 'p.id', 'e.project_id')
    .leftJoin('teams as t', 't.id', 'm.team_id')
    .leftJoin('organizations as o', 'o.id', 't.organization_id')
    .where('m.deleted_at', 'is', null)
    .where('i.deleted_at', 'is', null)
    .where('i.resource_count', '>', 0)
    .where('e.archived_at', 'is', null)
    .where('p.archived_at', 'is', null)
    .where('t.archived_at', 'is', null)
    .where('o.archived_at', 'is', null)
    .select(['m.id', 'm.schedule', 'm.enabled']);
}

export async function listPlannedMonitors(
  em: Em,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<PlannedWork[]> {
  const rows = await selectPlanned(em).where('m.id', '>', after).orderBy('m.id').limit(limit).execute();
  return rows.map(toPlannedWork);
}

export async function findPlannedMonitor(em: Em, id: string): Promise<PlannedWork | null> {
  const row = await selectPlanned(em).where('m.id', '=', id).executeTakeFirst();
  return row ? toPlannedWork(row) : null;
}
