import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/**
 * Of these attempts, those that must stop: their run is being canceled, has ended, or has another attempt now. Attempts that no longer
 * exist must stop, too.
 */
export async function findEndedAttempts(em: Em, ids: readonly string[]): Promise<string[]> {
  const rows = await db(em)
    .selectFrom(sql<{ id: string }>`unnest(${ids}::uuid[])`.as<'given'>(sql`given(id)`))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('run_attempts as a')
            .innerJoin('runs as r', (join) => join.onRef('r.id', '=', 'a.runId').onRef('r.attemptId', '=', 'a.id'))
            .whereRef('a.id', '=', 'given.id')
            .where('r.status', '=', 'running')
            .select('a.id'),
        ),
      ),
    )
    .select('given.id')
    .execute();
  return rows.map(({ id }) => id);
}
