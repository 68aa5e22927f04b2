import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { partitionOf } from '#database/partitions.ts';
import { queriesOf } from '#database/queries.ts';

/**
 * Keeps the numbers of the subjects whose last event lies in a month that is about to be dropped, so that their next event gets the next
 * number (`insert-store.ts`).
 */
export async function keepEventNumbers(em: Em, month: string): Promise<void> {
  const leaving = sql.table(partitionOf('domain_events', month));
  await sql`
    insert into event_numbers (subject_kind, subject_id, sequence, project_id)
    select distinct on (e.subject_kind, e.subject_id) e.subject_kind, e.subject_id, e.sequence, e.project_id from ${leaving} e
     where not exists (select from domain_events later where later.subject_kind = e.subject_kind and later.subject_id = e.subject_id
                                                         and later.sequence > e.sequence)
     order by e.subject_kind, e.subject_id, e.sequence desc
        on conflict (subject_kind, subject_id) do update set sequence = excluded.sequence, project_id = excluded.project_id`.execute(
    queriesOf(em),
  );
}
