import { sql } from 'kysely';
import type { Em, Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EventCursor } from './cursor.ts';
import { readEventsAfter, startCursor } from './cursor-store.ts';
import type { PublishedEvent } from './published-event.ts';

/** A reader of all events that stores its cursor in a table of its own. */
export interface EventFollower {
  /** The table that holds its cursor, in one row. */
  readonly table: 'webhook_cursors' | 'notification_cursors';
  /** Names its lock: one process follows at a time. It never changes. */
  readonly lock: string;
  /** Processes events in the transaction that moves the cursor. */
  readonly take: (em: Em, events: readonly PublishedEvent[]) => Promise<void>;
}

/** The id of the one row of the table. */
const cursorId = '00000000-0000-0000-0000-000000000001';
const batch = 500;

/**
 * Processes the next events and moves the cursor past them in one transaction, so that a killed process has done both or neither. Only one
 * process does this at a time. Commands write nothing extra for followers, because followers read the committed events. Returns how many
 * events it read, or null if another process is doing it.
 */
export async function followEvents(orm: Orm, follower: EventFollower): Promise<number | null> {
  return orm.em.fork().transactional(async (em) => {
    const cursor = await lockCursor(em, follower);
    if (cursor === null) return null;
    const next = await readEventsAfter(em, cursor, batch);
    if (next.events.length > 0) await follower.take(em, next.events);
    await keepCursor(em, follower, next.cursor);
    return next.events.length;
  });
}

/** Locks and returns the cursor; null while another process has the lock. A follower without a cursor begins at the present. */
async function lockCursor(em: Em, { table, lock }: EventFollower): Promise<EventCursor | null> {
  const { rows } = await sql<{ isOurs: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) as "isOurs"`.execute(db(em));
  if (!rows[0]?.isOurs) return null;
  const known = await db(em).selectFrom(table).where('id', '=', cursorId).select('cursor').executeTakeFirst();
  const cursor = known && 'seen' in known.cursor ? known.cursor : undefined;
  return cursor && !(await isOfOtherServer(em, cursor)) ? cursor : startCursor(em);
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

async function keepCursor(em: Em, { table }: EventFollower, cursor: EventCursor): Promise<void> {
  const text = JSON.stringify(cursor);
  await db(em)
    .insertInto(table)
    .values({ id: cursorId, cursor: text })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ cursor: text }))
    .execute();
}
