import { type Expression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EndRecord } from './ended-eligibility.ts';
import type { Principal } from './principal.ts';

/** The generation of a subject that has only one, such as a membership. */
export const onlyGeneration = 0;

/** Records that a principal has now ended a generation of a subject. */
export async function noteEnd(
  em: Em,
  by: Pick<Principal, 'id'>,
  thingIds: readonly string[],
  generation: number,
): Promise<void> {
  if (thingIds.length === 0) return;
  await db(em)
    .insertInto('ended_eligibilities')
    .values(
      thingIds.map((id) => ({ thingId: id, generation, endedAt: sql<string>`clock_timestamp()`, endedBy: by.id })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Records that the previous generation of a principal has ended now. */
export async function notePrincipalEnd(em: Em, id: string): Promise<void> {
  await db(em)
    .insertInto('ended_eligibilities')
    .columns(['thingId', 'generation', 'endedAt'])
    .expression((eb) =>
      eb
        .selectFrom('principals')
        .where('id', '=', id)
        .select(['id', sql<number>`eligibility_generation - 1`.as('generation'), sql`clock_timestamp()`.as('endedAt')]),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** An `EndRecord` from two expressions; null if the subject has not ended. */
export function endRecord(at: Expression<string | null>, by: Expression<string | null>) {
  return sql<EndRecord | null>`case when ${at} is not null then jsonb_build_object('at', ${at}, 'by', ${by}) end`;
}

/**
 * The earliest recorded end among some generations; null if no end is recorded. @param pairs a text of ids, each followed by its generation
 */
export function firstEnd(pairs: Expression<string>) {
  return sql<EndRecord | null>`(select ${endRecord(sql`x.ended_at`, sql`x.ended_by`)} from (select string_to_array(${pairs}, ' ') as words) w
    cross join lateral generate_series(1, cardinality(w.words), 2) n
    join ended_eligibilities x on x.thing_id = nullif(w.words[n], '')::uuid
      and x.generation = coalesce(nullif(w.words[n + 1], '')::int, ${onlyGeneration}::int)
    order by x.ended_at limit 1)`;
}
