import { sql } from 'kysely';
import type { Em, Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EventCursor } from './cursor.ts';
import { readEventsAfter, startCursor } from './cursor-store.ts';
import type { PublishedEvent } from './event-type.ts';

/** A reader of all events that stores its cursor in a table of its own. */
export interface EventFollower {
  /** The table that holds its cursor, in one row. */
  readonly table: 'webhook_cursors' | 'notification_cursors';
  /** Names its lock: one process follows at a time. It never changes. */
  readonly lock: string;
  /** Processes events in the transaction that moves the cursor. */
  readonly take: (em: Em, events: readonly PublishedEvent[]) => Promise<void>;
}

/** A cursor in a row of a table, and the lock under which one process at a time moves it. */
export interface KeptCursor extends Pick<EventFollower, 'table' | 'lock'> {
  readonly id: string;
}

/** The id of the row of a table that has the cursor of an `EventFollower`. */
const followerId = '00000000-0000-0000-0000-000000000001';
const batch = 500;

/**
 * Processes the next events and moves the cursor past them in one transaction, so that a killed process has done both or neither. Only one
 * process does this at a time. Commands write nothing extra for followers, because followers read the committed events. Returns how many
 * events it read, or null if another process is doing it. A follower without a cursor begins at the present.
 */
export function followEvents(orm: Orm, { table, lock, take }: EventFollower): Promise<number | null> {
  return moveCursor<EventCursor, number>(orm, { table, id: followerId, lock }, async (em, known) => {
    const cursor = known && !(await isOfOtherServer(em, known)) ? known : await startCursor(em);
    const next = await readEventsAfter(em, cursor, batch);
    if (next.events.length > 0) await take(em, next.events);
    return { cursor: next.cursor, result: next.events.length };
  });
}

/**
 * Moves a cursor in the transaction of the work up to it. Returns the result of the work; null while another process moves the cursor.
 * @param work gets the stored cursor; undefined if there is none yet
 */
export function moveCursor<Cursor, Result>(
  orm: Orm,
  { table, id, lock }: KeptCursor,
  work: (em: Em, known: Cursor | undefined) => Promise<{ readonly cursor: Cursor; readonly result: Result }>,
): Promise<Result | null> {
  return orm.em.fork().transactional(async (em) => {
    const isOurs = sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${lock}, 0))`.as('isOurs');
    if (!(await db(em).selectNoFrom(isOurs).executeTakeFirstOrThrow()).isOurs) return null;
    const known = await db(em).selectFrom(table).where('id', '=', id).select('cursor').executeTakeFirst();
    const { cursor, result } = await work(em, known?.cursor as Cursor | undefined);
    const text = JSON.stringify(cursor);
    await db(em)
      .insertInto(table)
      .values({ id, cursor: text })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ cursor: text }))
      .execute();
    return result;
  });
}

/**
 * Whether the cursor comes from another server: after the restore of a dump, it names transactions that this server has not reached yet.
 */
async function isOfOtherServer(em: Em, { seen }: EventCursor): Promise<boolean> {
  const { rows } = await sql<{ isAhead: boolean }>`
    select pg_snapshot_xmax(${seen}::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) as "isAhead"`.execute(
    db(em),
  );
  return rows[0]?.isAhead ?? true;
}
