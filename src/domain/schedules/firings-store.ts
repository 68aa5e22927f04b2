import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { RunAuthor } from '#domain/runs/model.ts';
import { newId } from '#domain/shared/ids.ts';
import type { FiringOutcome, FiringReason } from './model.ts';

/** How many firings of a schedule are kept, beside those whose work has not ended. */
const keptFirings = 200;

/** One time of a schedule, and what became of its work. */
export interface Firing {
  readonly scheduleId: string;
  readonly scheduledAt: Date;
  readonly outcome: FiringOutcome;
  readonly reason?: FiringReason;
  readonly message?: string;
  readonly runId?: string | null;
  readonly assemblyRunId?: string | null;
  readonly requestedBy?: string;
  /** Who asked for the start, if somebody did. */
  readonly author?: RunAuthor;
}

/** Stores a firing. A firing that has an outcome other than `pending` keeps it. The caller has locked the schedule. */
export async function keepFiring(em: Em, firing: Firing): Promise<void> {
  const { scheduleId, scheduledAt, outcome } = firing;
  const found = {
    outcome,
    reason: firing.reason ?? null,
    message: firing.message ?? null,
    run_id: firing.runId ?? null,
    assembly_run_id: firing.assemblyRunId ?? null,
  };
  await db(em)
    .insertInto('schedule_firings')
    .values({
      ...found,
      id: newId(),
      schedule_id: scheduleId,
      scheduled_at: scheduledAt,
      requester_name: firing.requestedBy ?? null,
      author: firing.author ? json(firing.author) : null,
      created_at: new Date(),
    })
    .onConflict((of) =>
      of.columns(['schedule_id', 'scheduled_at']).doUpdateSet(found).where('schedule_firings.outcome', '=', 'pending'),
    )
    .execute();
  await forgetOld(em, scheduleId);
}

/**
 * What has not ended is not forgotten, however long it waits: the next times are left out because of it. Nor is a start that somebody asked for, since
 * they do not approve what it starts.
 */
async function forgetOld(em: Em, scheduleId: string): Promise<void> {
  await db(em)
    .deleteFrom('schedule_firings')
    .where('schedule_id', '=', scheduleId)
    .where('outcome', '<>', 'pending')
    .where((eb) => eb.not(eb('schedule_firings.id', 'in', selectUnended(em, scheduleId))))
    .where('scheduled_at', '<', (eb) =>
      eb
        .selectFrom('schedule_firings as f')
        .where('f.schedule_id', '=', scheduleId)
        .select('f.scheduled_at')
        .orderBy('f.scheduled_at', 'desc')
        .offset(keptFirings - 1)
        .limit(1),
    )
    .execute();
}

/**
 * The time of a start that somebody asks for: now, or the millisecond after the last time of the schedule. Two starts never share a time, since the
 * author of the second would be lost. The caller has locked the schedule.
 */
export async function findFreeTime(em: Em, scheduleId: string, now: Date): Promise<Date> {
  const row = await db(em)
    .selectFrom('schedule_firings')
    .where('schedule_id', '=', scheduleId)
    .select('scheduled_at as last')
    .orderBy('scheduled_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? new Date(Math.max(now.getTime(), new Date(row.last).getTime() + 1)) : now;
}

/** The outcome of the firing at a time; undefined if there is none yet. */
export async function findOutcome(em: Em, scheduleId: string, scheduledAt: Date): Promise<FiringOutcome | undefined> {
  const row = await db(em)
    .selectFrom('schedule_firings')
    .where('schedule_id', '=', scheduleId)
    .where('scheduled_at', '=', sql<string>`${scheduledAt}`)
    .select('outcome')
    .executeTakeFirst();
  return row?.outcome;
}

/** Who asked for the start at a time; empty if the schedule itself names the time. */
export async function findAuthors(em: Em, scheduleId: string, scheduledAt: Date): Promise<RunAuthor[]> {
  const row = await db(em)
    .selectFrom('schedule_firings')
    .where('schedule_id', '=', scheduleId)
    .where('scheduled_at', '=', sql<string>`${scheduledAt}`)
    .select('author')
    .executeTakeFirst();
  return row?.author ? [row.author] : [];
}

/** Whether something that the schedule started has not ended. */
export async function isStillRunning(em: Em, scheduleId: string): Promise<boolean> {
  return (await selectUnended(em, scheduleId).limit(1).executeTakeFirst()) !== undefined;
}

/** The firings whose run or assembly run has not ended. */
function selectUnended(em: Em, scheduleId: string) {
  return db(em)
    .selectFrom('schedule_firings as f')
    .leftJoin('runs as r', 'r.id', 'f.run_id')
    .leftJoin('assembly_runs as a', 'a.id', 'f.assembly_run_id')
    .where('f.schedule_id', '=', scheduleId)
    .where('f.outcome', '=', 'started')
    .where((eb) =>
      eb.or([
        eb.and([eb('r.id', 'is not', null), eb('r.finished_at', 'is', null)]),
        eb.and([eb('a.id', 'is not', null), eb('a.finished_at', 'is', null)]),
      ]),
    )
    .select('f.id');
}
