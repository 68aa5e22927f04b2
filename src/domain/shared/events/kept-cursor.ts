import { sql } from 'kysely';
import type { Em, Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EventCursor } from './cursor.ts';
import { readEventsAfter, startCursor } from './cursor-store.ts';
import type { PublishedEvent } from './published-event.ts';

/** Something that follows all events, and keeps in a table of its own how far it has come. */
export interface EventFollower {
  /** The table that holds its cursor, in one row. */
  readonly table: 'webhook_cursors' | 'notification_cursors';
  /** Names its lock: one process follows at a time. It never changes. */
  readonly lock: string;
  /** Writes what is to be written about some events, in the transaction that moves the cursor. */
  readonly take: (em: Em, events: readonly PublishedEvent[]) => Promise<void>;
}

/** The id of the one row of the table. */
const cursorId = '00000000-0000-0000-0000-000000000001';
const batch = 500;

/**
 * Takes the next events, and moves the cursor behind them, in one transaction: a process that is killed has done both or neither. One
 * process does it at a time. A command writes nothing for followers: the cursor reads the events that are committed anyway.
 * Answers how many events it read, or null while another process is at it.
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

/** The cursor, locked. Null while another process has it. The first one begins at present. */
async function lockCursor(em: Em, { table, lock }: EventFollower): Promise<EventCursor | null> {
  const { rows } = await sql<{ isOurs: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) as "isOurs"`.execute(db(em));
  if (!rows[0]?.isOurs) return null;
  const known = await db(em).selectFrom(table).where('id', '=', cursorId).select('cursor').executeTakeFirst();
  const cursor = known && 'seen' in known.cursor ? known.cursor : undefined;
  return cursor && !(await isOfOtherServer(em, cursor)) ? cursor : startCursor(em);
}

/** A dump that was restored into another server brings a cursor with transactions that this server will number later. */
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
