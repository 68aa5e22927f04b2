import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { PlannedWork } from '#domain/shared/schedules/scheduled-work.ts';
import { planOf } from './schedule-changes.ts';
import { findSchedule } from './store.ts';

/** Schedules of owners that are neither archived nor deleted, by id. */
export async function listPlanned(em: Em, { after, limit }: { after: string; limit: number }): Promise<PlannedWork[]> {
  const rows = await selectPlanned(em).where('s.id', '>', after).orderBy('s.id').limit(limit).execute();
  return rows.map(planOf);
}

/** One such schedule, locked with its owners. */
export async function lockPlanned(em: Em, id: string): Promise<PlannedWork | null> {
  await findSchedule(em, id, true);
  const row = await selectPlanned(em).where('s.id', '=', id).executeTakeFirst();
  return row ? planOf(row) : null;
}

function selectPlanned(em: Em) {
  return db(em)
    .selectFrom('schedules as s')
    .innerJoin('teams as t', 't.id', 's.team_id')
    .innerJoin('organizations as o', 'o.id', 't.organization_id')
    .leftJoin('environments as e', 'e.id', 's.environment_id')
    .leftJoin('projects as p', 'p.id', 'e.project_id')
    .where('t.deleted_at', 'is', null)
    .where('t.archived_at', 'is', null)
    .where('o.deleted_at', 'is', null)
    .where('o.archived_at', 'is', null)
    .where('e.archived_at', 'is', null)
    .where('p.archived_at', 'is', null)
    .select(['s.id', 's.spec', 's.is_enabled as isEnabled']);
}
