import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import type { PlannedWork } from '#domain/shared/schedules/scheduled-work.ts';
import { isElsewhereRow } from './pause-store.ts';
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

/** A schedule whose history may lack lines. */
export interface UnaccountedSchedule {
  readonly id: string;
  readonly spec: ScheduleSpec;
  /** PostgreSQL's text of the time. */
  readonly accountedUntil: string;
}

/** Schedules that are to start work, and whose history is complete only up to a time before `until`, by id. */
export function listUnaccounted(
  em: Em,
  until: Date,
  { after, limit }: { after: string; limit: number },
): Promise<UnaccountedSchedule[]> {
  return selectPlanned(em)
    .where('s.accounted_until', '<', sql<string>`${until}`)
    .where('s.is_enabled', '=', true)
    .where((eb) => eb.not(isElsewhereRow(eb)))
    .where('s.id', '>', after)
    .orderBy('s.id')
    .limit(limit)
    .execute();
}

/** Nobody expects a start of a schedule that is paused, or whose owner is archived: its history lacks no line. */
export async function skipUnplanned(em: Em, until: Date): Promise<void> {
  await db(em)
    .updateTable('schedules')
    .set({ accounted_until: sql`clock_timestamp()` })
    .where('accounted_until', '<', sql<string>`${until}`)
    .where((eb) =>
      eb(
        'schedules.id',
        'not in',
        selectPlanned(em)
          .where('s.is_enabled', '=', true)
          .where((of) => of.not(isElsewhereRow(of)))
          .clearSelect()
          .select('s.id'),
      ),
    )
    .execute();
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
    .select(['s.id', 's.spec', 's.accounted_until as accountedUntil'])
    .select((eb) =>
      eb
        .and([eb.ref('s.is_enabled'), eb.not(isElsewhereRow(eb))])
        .$castTo<boolean>()
        .as('isEnabled'),
    );
}
