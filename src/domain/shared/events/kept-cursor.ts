import { sql } from 'kysely';
import type { Em, Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EventCursor } from './cursor.ts';
import { readEventsAfter, startCursor } from './cursor-store.ts';
import type { PublishedEvent } from './event-type.ts';

/** A cursor in a row of a table. Whoever locks the row moves it. */
export interface KeptCursor {
  readonly table: 'webhook_cursors' | 'notification_cursors';
  readonly id: string;
}

/** A reader of all events that stores its cursor in a table of its own. */
export interface EventFollower extends Pick<KeptCursor, 'table'> {
  /** Processes events in the transaction that moves the cursor. */
  readonly take: (em: Em, events: readonly PublishedEvent[]) => Promise<void>;
}

/** The id of the row of a table that has the cursor of an `EventFollower`. */
const followerId = '00000000-0000-0000-0000-000000000001';
/** How many events a follower takes at once. */
export const eventBatch = 500;

/**
 * Processes the next events and moves the cursor past them in one transaction, so that a killed process has done both or neither. Only one
 * process does this at a time. Commands write nothing extra for followers, because followers read the committed events. Returns how many
 * events it read, or null if another process is doing it. A follower without a cursor begins at the present.
 */
export function followEvents(orm: Orm, { table, take }: EventFollower): Promise<number | null> {
  return moveCursor<EventCursor, number>(orm, { table, id: followerId }, startCursor, async (em, known) => {
    const { events, cursor } = await readEventsAfter(em, known, eventBatch);
    if (events.length > 0) await take(em, events);
    // A cursor that is written costs more than one that is read again, so it stays until there is an event.
    if (events.length > 0 || known.paging) return { cursor, result: events.length };
    return (await isOfOtherServer(em, known)) ? { cursor: await startCursor(em), result: 0 } : { result: 0 };
  });
}

/**
 * Moves the cursor of a follower to the present while nobody wants its events, which it then never takes.
 * @param isWanted asks after the present was taken, so that nothing is left out that happens after somebody wants it
 */
export async function followFromPresent(
  orm: Orm,
  { table }: Pick<KeptCursor, 'table'>,
  isWanted: (em: Em) => Promise<boolean>,
): Promise<void> {
  await moveCursor<EventCursor, null>(orm, { table, id: followerId }, startCursor, async (em) => {
    const present = await startCursor(em);
    return { ...(!(await isWanted(em)) && { cursor: present }), result: null };
  });
}

/**
 * Moves a cursor in the transaction of the work up to it. Returns the result of the work; null while another process moves the cursor, and
 * if there was none yet.
 * @param start where a new cursor begins
 * @param work does not move the cursor if it returns none
 */
export function moveCursor<Cursor, Result>(
  orm: Orm,
  { table, id }: KeptCursor,
  start: (em: Em) => Promise<Cursor>,
  work: (em: Em, known: Cursor) => Promise<{ readonly cursor?: Cursor; readonly result: Result }>,
): Promise<Result | null> {
  return orm.em.fork().transactional(async (em) => {
    const cursors = db(em).selectFrom(table).where('id', '=', id).select('cursor');
    const known = await cursors.forUpdate().skipLocked().executeTakeFirst();
    if (!known) {
      await insertCursor(em, { table, id }, start);
      return null;
    }
    const { cursor, result } = await work(em, known.cursor as Cursor);
    if (cursor !== undefined)
      await db(em)
        .updateTable(table)
        .set({ cursor: JSON.stringify(cursor) })
        .where('id', '=', id)
        .execute();
    return result;
  });
}

/** Adds a cursor, unless there is one that another process has locked. */
async function insertCursor<Cursor>(em: Em, { table, id }: KeptCursor, start: (em: Em) => Promise<Cursor>) {
  const cursor = JSON.stringify(await start(em));
  const added = db(em).insertInto(table).values({ id, cursor });
  await added.onConflict((conflict) => conflict.doNothing()).execute();
}

/**
 * Whether the cursor comes from another server: after the restore of a dump, it names transactions that this server has not reached yet.
 */
async function isOfOtherServer(em: Em, { seen }: EventCursor): Promise<boolean> {
  const isAhead = sql<boolean>`pg_snapshot_xmax(${seen}::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot())`;
  return (await db(em).selectNoFrom(isAhead.as('isAhead')).executeTakeFirstOrThrow()).isAhead;
}
