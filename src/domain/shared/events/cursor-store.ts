import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EventCursor } from './cursor.ts';
import { type EventRow, selectEvent, toEvent } from './event-store.ts';
import type { PublishedEvent } from './event-type.ts';

/** Every transaction is shorter than this. */
const maxTransaction = '1 day';

/** The events that a reader wants; by default all of them. */
export interface EventFilter {
  readonly subjectKind?: string;
  readonly teamIds?: readonly string[];
}

const unreadColumns = [
  'unread.id',
  'unread.type',
  'unread.subjectKind',
  'unread.subjectId',
  'unread.sequence',
  'unread.data',
  'unread.organizationId',
  'unread.teamId',
  'unread.projectId',
  'unread.actorType',
  'unread.actorId',
  'unread.actorName',
  'unread.at',
  'unread.position',
] as const;

/** The next events, and the cursor after them. */
export interface NextEvents {
  readonly events: PublishedEvent[];
  readonly cursor: EventCursor;
}

/** The cursor of a reader who wants every event that commits from now on. */
export async function startCursor(em: Em): Promise<EventCursor> {
  const present = await selectPresent(em).executeTakeFirstOrThrow();
  return { seen: present.snapshot, paging: null, since: present.since };
}

/**
 * The next events, and the cursor after them, by one statement. Each event is returned once after its commit, and the events of one subject
 * in their order. If it returns fewer events than `limit`, it has returned everything that was committed before the call.
 */
export async function readEventsAfter(
  em: Em,
  cursor: EventCursor,
  limit: number,
  filter: EventFilter = {},
): Promise<NextEvents> {
  const { seen, since, paging } = cursor;
  const unread = selectUnread(em, cursor, filter).limit(limit);
  const rows = await selectPresent(em)
    .leftJoinLateral(unread.as('unread'), (join) => join.onTrue())
    .select(unreadColumns)
    .orderBy('unread.position')
    .execute();
  const [present] = rows;
  if (!present) throw new Error('PostgreSQL returned no snapshot');
  const found = rows.filter(({ id }) => id !== null);
  const events = found.map(({ snapshot: _, since: __, position: ___, ...row }) => toEvent(row as EventRow));
  const until = paging?.until ?? present.snapshot;
  const position = found.at(-1)?.position;
  if (position && found.length === limit) return { events, cursor: { seen, paging: { until, position }, since } };
  const behind = { seen: until, paging: null, since };
  if (!paging) return { events, cursor: behind };
  // More events may have been committed while the reader paged. Only a new snapshot shows them.
  const newer = await readEventsAfter(em, behind, limit - events.length, filter);
  return { events: [...events, ...newer.events], cursor: newer.cursor };
}

/**
 * The events after the position of a cursor whose transactions are visible and were not in the snapshot `seen`. While the reader pages, only
 * those count that were visible in the snapshot `until`.
 */
function selectUnread(em: Em, { seen, since, paging }: EventCursor, filter: EventFilter) {
  return db(em)
    .selectFrom('domain_events as e')
    .where((eb) => {
      const transaction = eb.ref('e.transactionId');
      return eb.and([
        eb(transaction, '>=', sql<string>`pg_snapshot_xmin(${seen}::pg_snapshot)`),
        sql<boolean>`not pg_visible_in_snapshot(${transaction}, ${seen}::pg_snapshot)`,
        sql<boolean>`pg_visible_in_snapshot(${transaction}, coalesce(${paging?.until ?? null}::pg_snapshot, pg_current_snapshot()))`,
        eb('e.createdAt', '>', sql<string>`${since}::timestamptz - ${maxTransaction}::interval`),
        eb('e.position', '>', paging?.position ?? '0'),
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

/** The snapshot and the time of the statement. */
function selectPresent(em: Em) {
  const present = sql<{
    snapshot: string;
    since: string;
  }>`(select pg_current_snapshot()::text as snapshot, now()::text as since)`;
  return db(em).selectFrom(present.as('present')).select(['present.snapshot', 'present.since']);
}
