import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { IdPage } from '#domain/shared/paging/every-row.ts';
import type { PlannedWork } from '#domain/shared/schedules/scheduled-work.ts';
import { toPlannedWork } from '../monitors/scheduling.ts';

/**
 * Monitors that scan by their schedules: those whose instances hold resources, and whose owners are neither deleted nor archived. So scans
 * of a destroyed instance stop, and resume once it is deployed again.
 */
function selectPlanned(em: Em) {
  return db(em)
    .selectFrom('drift_monitors as m')
    .innerJoin('instances as i', 'i.id', 'm.instanceId')
    .leftJoin('environments as e', 'e.id', 'i.environmentId')
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .leftJoin('teams as t', 't.id', 'm.teamId')
    .leftJoin('organizations as o', 'o.id', 't.organizationId')
    .where('m.deletedAt', 'is', null)
    .where('i.deletedAt', 'is', null)
    .where('i.resourceCount', '>', 0)
    .where('e.archivedAt', 'is', null)
    .where('p.archivedAt', 'is', null)
    .where('t.archivedAt', 'is', null)
    .where('o.archivedAt', 'is', null)
    .select(['m.id', 'm.schedule', 'm.enabled']);
}

export async function listPlannedMonitors(em: Em, { after, limit }: IdPage): Promise<PlannedWork[]> {
  const rows = await selectPlanned(em).where('m.id', '>', after).orderBy('m.id').limit(limit).execute();
  return rows.map(toPlannedWork);
}

export async function findPlannedMonitor(em: Em, id: string): Promise<PlannedWork | null> {
  const row = await selectPlanned(em).where('m.id', '=', id).executeTakeFirst();
  return row ? toPlannedWork(row) : null;
}
