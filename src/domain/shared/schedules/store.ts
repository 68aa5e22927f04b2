import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** Lets one worker at a time compare schedules with the engine; false if another one does. The lock ends with the transaction. */
export async function lockScheduleRepair(em: Em): Promise<boolean> {
  const lock = sql<boolean>`pg_try_advisory_xact_lock(hashtextextended('delivery-coordinator/schedules', 0))`;
  const row = await db(em).selectNoFrom(lock.as('isOurs')).executeTakeFirst();
  return row?.isOurs ?? false;
}
