import { sql } from 'kysely';
import type { Em, Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EventCursor } from '#domain/shared/events/cursor.ts';
import { readEventsAfter, startCursor } from '#domain/shared/events/cursor-store.ts';
import { fanOutEvents } from './fan-out-store.ts';

/** The id of the one row that says how far the events have been given to webhooks. */
const cursorId = '00000000-0000-0000-0000-000000000001';
const batch = 500;

/**
 * Makes the deliveries of the next events, and moves the cursor behind them, in one transaction: a process that is killed has done both or
 * neither. One process does it at a time. A command writes nothing for webhooks: the cursor reads the events that are committed anyway.
 * Answers how many events it read, or null while another process is at it.
 */
export async function fanOut(orm: Orm): Promise<number | null> {
  return orm.em.fork().transactional(async (em) => {
    const cursor = await lockCursor(em);
    if (cursor === null) return null;
    const next = await readEventsAfter(em, cursor, batch);
    if (next.events.length > 0)
      await fanOutEvents(
        em,
        next.events.map(({ id }) => id),
      );
    await keepCursor(em, next.cursor);
    return next.events.length;
  });
}

/** The cursor, locked. Null while another process has it. The first one begins at present. */
async function lockCursor(em: Em): Promise<EventCursor | null> {
  const { rows } = await sql<{ isOurs: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/webhook fan-out', 0)) as "isOurs"`.execute(
    db(em),
  );
  if (!rows[0]?.isOurs) return null;
  const known = await db(em)
    .selectFrom('webhook_cursors')
    .where('id', '=', cursorId)
    .select('cursor')
    .executeTakeFirst();
  return known && !(await isOfOtherServer(em, known.cursor)) ? known.cursor : startCursor(em);
}

/** A dump that was restored into another server brings a cursor with transactions that this server will number later. */
async function isOfOtherServer(em: Em, { seen }: EventCursor): Promise<boolean> {
  const { rows } = await sql<{ isAhead: boolean }>`
    select pg_snapshot_xmax(${seen}::pg_snapshot) > pg_snapshot_xmax(pg_current_snapshot()) as "isAhead"`.execute(
    db(em),
  );
  return rows[0]?.isAhead ?? true;
}

async function keepCursor(em: Em, cursor: EventCursor): Promise<void> {
  const text = JSON.stringify(cursor);
  await db(em)
    .insertInto('webhook_cursors')
    .values({ id: cursorId, cursor: text })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ cursor: text }))
    .execute();
}
