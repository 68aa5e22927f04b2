import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { IdPage } from '#domain/shared/paging/every-row.ts';
import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import type { PlannedWork } from '#domain/shared/schedules/scheduled-work.ts';
import { isElsewhereRow } from './pause-store.ts';
import { planOf } from './schedule-changes.ts';
import { findSchedule } from './store.ts';

/** Schedules of owners that are neither archived nor deleted, by id. */
export async function listPlanned(em: Em, { after, limit }: IdPage): Promise<PlannedWork[]> {
  const rows = await selectPlanned(em).where('s.id', '>', after).orderBy('s.id').limit(limit).execute();
  return rows.map(planOf);
}

/** Locks one such schedule with its owners. */
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

/** Schedules that start work, and whose history is complete only up to a time before `until`, by id. */
export function listUnaccounted(em: Em, until: Date, { after, limit }: IdPage): Promise<UnaccountedSchedule[]> {
  return selectPlanned(em)
    .where('s.accountedUntil', '<', sql<string>`${until}`)
    .where('s.isEnabled', '=', true)
    .where((eb) => eb.not(isElsewhereRow(eb)))
    .where('s.id', '>', after)
    .orderBy('s.id')
    .limit(limit)
    .execute();
}

/** Marks the history of paused schedules, and of schedules with archived owners, as complete, because nobody expects starts of them. */
export async function skipUnplanned(em: Em, until: Date): Promise<void> {
  await db(em)
    .updateTable('schedules')
    .set({ accountedUntil: sql`clock_timestamp()` })
    .where('accountedUntil', '<', sql<string>`${until}`)
    .where((eb) =>
      eb(
        'schedules.id',
        'not in',
        selectPlanned(em)
          .where('s.isEnabled', '=', true)
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
    .innerJoin('teams as t', 't.id', 's.teamId')
    .innerJoin('organizations as o', 'o.id', 't.organizationId')
    .leftJoin('environments as e', 'e.id', 's.environmentId')
    .leftJoin('projects as p', 'p.id', 'e.projectId')
    .where('t.deletedAt', 'is', null)
    .where('t.archivedAt', 'is', null)
    .where('o.deletedAt', 'is', null)
    .where('o.archivedAt', 'is', null)
    .where('e.archivedAt', 'is', null)
    .where('p.archivedAt', 'is', null)
    .select(['s.id', 's.spec', 's.accountedUntil'])
    .select((eb) =>
      eb
        .and([eb.ref('s.isEnabled'), eb.not(isElsewhereRow(eb))])
        .$castTo<boolean>()
        .as('isEnabled'),
    );
}
