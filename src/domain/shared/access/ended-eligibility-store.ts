import { type Expression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';

/** Of what has only one generation, such as a membership. */
export const onlyGeneration = 0;

/** Writes that a generation of something has ended now. */
export async function noteEnd(em: Em, thingIds: readonly string[], generation: number): Promise<void> {
  if (thingIds.length === 0) return;
  await db(em)
    .insertInto('ended_eligibilities')
    .values(thingIds.map((id) => ({ thing_id: id, generation, ended_at: sql<string>`clock_timestamp()` })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Writes that the generation before the present one of a principal has ended now. */
export async function notePrincipalEnd(em: Em, id: string): Promise<void> {
  await db(em)
    .insertInto('ended_eligibilities')
    .columns(['thing_id', 'generation', 'ended_at'])
    .expression((eb) =>
      eb
        .selectFrom('principals')
        .where('id', '=', id)
        .select([
          'id',
          sql<number>`eligibility_generation - 1`.as('generation'),
          sql`clock_timestamp()`.as('ended_at'),
        ]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** When the first of some generations ended; null if none is known to have ended. @param pairs a text of ids, each followed by its generation */
export function firstEnd(pairs: Expression<string>) {
  return sql<string | null>`(select min(x.ended_at) from (select string_to_array(${pairs}, ' ') as words) w
    cross join lateral generate_series(1, cardinality(w.words), 2) n
    join ended_eligibilities x on x.thing_id = nullif(w.words[n], '')::uuid
      and x.generation = coalesce(nullif(w.words[n + 1], '')::int, ${onlyGeneration}::int))`;
}
