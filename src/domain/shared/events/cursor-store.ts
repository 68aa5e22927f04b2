import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EventCursor } from './cursor.ts';
import { selectEvent, toEvent } from './event-store.ts';
import type { PublishedEvent } from './event-type.ts';

/** Every transaction is shorter than this. */
const maxTransaction = '1 day';

/** The events that a reader wants; by default all of them. */
export interface EventFilter {
  readonly subjectKind?: string;
  readonly teamIds?: readonly string[];
}

/** The cursor of a reader who wants every event that commits from now on. */
export async function startCursor(em: Em): Promise<EventCursor> {
  const { snapshot, since } = await readSnapshot(em);
  return { seen: snapshot, paging: null, since };
}

/**
 * The next events, and the cursor after them. Each event is returned once after its commit, and the events of one subject in their order.
 * If it returns fewer events than `limit`, it has returned everything that was committed before the call.
 */
export async function readEventsAfter(
  em: Em,
  cursor: EventCursor,
  limit: number,
  filter: EventFilter = {},
): Promise<{ events: PublishedEvent[]; cursor: EventCursor }> {
  const { seen, since } = cursor;
  const { until, position } = cursor.paging ?? { until: (await readSnapshot(em)).snapshot, position: '0' };
  const rows = await selectUnread(em, { seen, since, until, position, filter }).limit(limit).execute();
  const events = rows.map(({ position: _, ...row }) => toEvent(row));
  const last = rows.at(-1);
  if (last && rows.length === limit) {
    return { events, cursor: { seen, paging: { until, position: last.position }, since } };
  }
  const behind = { seen: until, paging: null, since };
  if (!cursor.paging) return { events, cursor: behind };
  // More events may have been committed while the reader paged. Only a new snapshot shows them.
  const newer = await readEventsAfter(em, behind, limit - events.length, filter);
  return { events: [...events, ...newer.events], cursor: newer.cursor };
}

interface Unread {
  readonly seen: string;
  readonly since: string;
  readonly until: string;
  readonly position: string;
  readonly filter: EventFilter;
}

/** The events after a position whose transactions are visible in the snapshot `until` and were not in the snapshot `seen`. */
function selectUnread(em: Em, { seen, since, until, position, filter }: Unread) {
  return db(em)
    .selectFrom('domain_events as e')
    .where((eb) => {
      const transaction = eb.ref('e.transactionId');
      return eb.and([
        eb(transaction, '>=', sql<string>`pg_snapshot_xmin(${seen}::pg_snapshot)`),
        sql<boolean>`not pg_visible_in_snapshot(${transaction}, ${seen}::pg_snapshot)`,
        sql<boolean>`pg_visible_in_snapshot(${transaction}, ${until}::pg_snapshot)`,
        eb('e.createdAt', '>', sql<string>`${since}::timestamptz - ${maxTransaction}::interval`),
        eb('e.position', '>', position),
      ]);
    })
    .$if(filter.subjectKind !== undefined, (query) => query.where('e.subjectKind', '=', filter.subjectKind ?? ''))
    .$if(filter.teamIds !== undefined, (query) =>
      query.where('e.teamId', '=', (eb) => eb.fn.any(eb.val(filter.teamIds ?? []))),
    )
    .select(selectEvent)
    .select('e.position')
    .orderBy('e.position');
}

async function readSnapshot(em: Em): Promise<{ snapshot: string; since: string }> {
  return db(em)
    .selectNoFrom([sql<string>`pg_current_snapshot()::text`.as('snapshot'), sql<string>`now()::text`.as('since')])
    .executeTakeFirstOrThrow();
}
