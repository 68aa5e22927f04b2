import { type SelectQueryBuilder, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { RunAuthor } from '#domain/runs/model.ts';
import { newId } from '#domain/shared/ids.ts';
import type { FiringOutcome, FiringReason } from '../model.ts';

/** How many firings of a schedule are kept, besides those whose work has not ended. */
const keptFirings = 200;

/** One time of a schedule, or several consecutive ones, and the outcome of its work. */
export interface Firing {
  readonly scheduleId: string;
  /** The first time. */
  readonly scheduledAt: Date;
  /** The last time, if there are several. */
  readonly lastAt?: Date;
  /** The number of times; by default one. */
  readonly times?: number;
  readonly outcome: FiringOutcome;
  readonly reason?: FiringReason;
  readonly message?: string;
  readonly runId?: string | null;
  readonly assemblyRunId?: string | null;
  readonly requestedBy?: string;
  /** The person who requested the start, if somebody did. */
  readonly author?: RunAuthor;
}

/**
 * Stores a firing, or adds it to the last one if both started nothing for the same reason. A firing that has an outcome other than
 * `pending` keeps it. The caller has locked the schedule.
 */
export async function keepFiring(em: Em, firing: Firing): Promise<void> {
  if (await addToLast(em, firing)) return;
  const { scheduleId, scheduledAt, outcome } = firing;
  const found = {
    outcome,
    reason: firing.reason ?? null,
    message: firing.message ?? null,
    runId: firing.runId ?? null,
    assemblyRunId: firing.assemblyRunId ?? null,
  };
  await db(em)
    .insertInto('schedule_firings')
    .values({
      ...found,
      id: newId(),
      scheduleId,
      scheduledAt,
      lastAt: firing.lastAt ?? null,
      times: firing.times ?? 1,
      requesterName: firing.requestedBy ?? null,
      author: firing.author ? json(firing.author) : null,
      createdAt: new Date(),
    })
    .onConflict((of) =>
      of.columns(['scheduleId', 'scheduledAt']).doUpdateSet(found).where('schedule_firings.outcome', '=', 'pending'),
    )
    .execute();
  await forgetOld(em, scheduleId);
}

/**
 * Adds times to the last line of the history, so that a schedule that starts nothing for weeks does not fill it. False if that line has
 * another outcome.
 */
async function addToLast(em: Em, firing: Firing): Promise<boolean> {
  const { scheduleId, scheduledAt, outcome, reason, message } = firing;
  if (reason === undefined || firing.author) return false;
  const { numUpdatedRows } = await db(em)
    .updateTable('schedule_firings')
    .set((eb) => ({ times: eb('times', '+', firing.times ?? 1), lastAt: firing.lastAt ?? scheduledAt }))
    .where('id', '=', (eb) => selectLast(eb.selectFrom('schedule_firings'), scheduleId).select('schedule_firings.id'))
    .where('outcome', '=', outcome)
    .where('reason', '=', reason)
    .where('message', 'is not distinct from', message ?? null)
    .where('author', 'is', null)
    .where((eb) => eb(eb.fn.coalesce('lastAt', 'scheduledAt'), '<', sql<string>`${scheduledAt}`))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

function selectLast(firings: SelectQueryBuilder<Tables, 'schedule_firings', object>, scheduleId: string) {
  return firings.where('scheduleId', '=', scheduleId).orderBy('scheduledAt', 'desc').limit(1);
}

/**
 * Deletes old firings. Pending firings stay, and so do those whose work has not ended: later times are skipped because of them, and a
 * person who requested such a start may not approve it.
 */
async function forgetOld(em: Em, scheduleId: string): Promise<void> {
  await db(em)
    .deleteFrom('schedule_firings')
    .where('scheduleId', '=', scheduleId)
    .where('outcome', '<>', 'pending')
    .where((eb) => eb.not(eb('schedule_firings.id', 'in', selectUnended(em, scheduleId))))
    .where('scheduledAt', '<', (eb) =>
      eb
        .selectFrom('schedule_firings as f')
        .where('f.scheduleId', '=', scheduleId)
        .select('f.scheduledAt')
        .orderBy('f.scheduledAt', 'desc')
        .offset(keptFirings - 1)
        .limit(1),
    )
    .execute();
}

/**
 * The time for a requested start: now, or the millisecond after the last time in the history. Two starts must not have the same time,
 * because the author of the second would be lost. The caller has locked the schedule.
 */
export async function findFreeTime(em: Em, scheduleId: string, now: Date): Promise<Date> {
  const row = await selectLast(db(em).selectFrom('schedule_firings'), scheduleId)
    .select((eb) => eb.fn.coalesce('lastAt', 'scheduledAt').as('last'))
    .executeTakeFirst();
  return row ? new Date(Math.max(now.getTime(), new Date(row.last).getTime() + 1)) : now;
}

/** The outcome of the firing at a time; undefined if there is none yet. */
export async function findOutcome(em: Em, scheduleId: string, scheduledAt: Date): Promise<FiringOutcome | undefined> {
  const [firing] = await listFiringsBetween(em, scheduleId, scheduledAt, scheduledAt);
  return firing?.outcome;
}

/** The firings for times from `from` to `until`, oldest first. */
export function listFiringsBetween(em: Em, scheduleId: string, from: Date, until: Date) {
  return db(em)
    .selectFrom('schedule_firings')
    .where('scheduleId', '=', scheduleId)
    .where('scheduledAt', '<=', sql<string>`${until}`)
    .where((eb) => eb(eb.fn.coalesce('lastAt', 'scheduledAt'), '>=', sql<string>`${from}`))
    .select((eb) => ['outcome', 'scheduledAt as first', eb.fn.coalesce('lastAt', 'scheduledAt').as('last')])
    .orderBy('scheduledAt')
    .execute();
}

/** The person who requested the start at a time; empty if it is a time of the schedule itself. */
export async function findAuthors(em: Em, scheduleId: string, scheduledAt: Date): Promise<RunAuthor[]> {
  const row = await db(em)
    .selectFrom('schedule_firings')
    .where('scheduleId', '=', scheduleId)
    .where('scheduledAt', '=', sql<string>`${scheduledAt}`)
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
    .leftJoin('runs as r', 'r.id', 'f.runId')
    .leftJoin('assembly_runs as a', 'a.id', 'f.assemblyRunId')
    .where('f.scheduleId', '=', scheduleId)
    .where('f.outcome', '=', 'started')
    .where((eb) =>
      eb.or([
        eb.and([eb('r.id', 'is not', null), eb('r.finishedAt', 'is', null)]),
        eb.and([eb('a.id', 'is not', null), eb('a.finishedAt', 'is', null)]),
      ]),
    )
    .select('f.id');
}
