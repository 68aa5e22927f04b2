import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Compilable, ParameterOf } from '#database/queries.ts';
import { type JsonText, json } from '#database/tables.ts';
import { prepareChange } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { ownerOfAny } from '../ownership-graph/any-owner.ts';
import type { PendingEvent } from './publish.ts';

/**
 * Whether a constraint is the one that fails when two transactions give the same number to events of one subject (`insertEvents`). Each
 * partition of the events has its own such constraint.
 */
export function isEventNumberConstraint(name: string | undefined): boolean {
  return /^domain_events_\w+_subject_kind_subject_id_sequence_key$/.test(name ?? '');
}

interface OrderedEvent extends PendingEvent {
  /** Its place among the events of its transaction. */
  readonly ordinal: number;
}

/** An event whose subject id is filled in: if the installation is the subject, that is the id of the installation. */
interface ReadEvent extends OrderedEvent {
  readonly subjectId: string;
}

type OverEvents = ExpressionBuilder<Tables & { e: ReadEvent }, 'e'>;

/** In the order in which `selectNumbered` selects them. */
const columns = [
  'id',
  'type',
  'subjectKind',
  'subjectId',
  'teamId',
  'data',
  'actorId',
  'actorType',
  'actorName',
  'organizationId',
  'projectId',
  'sequence',
  'createdAt',
] as const;

/** One parameter holds all events, so that the statement stays the same however many there are. */
const insertNumbered = prepareChange((db, parameter: ParameterOf<{ events: JsonText<OrderedEvent[]> }>) =>
  db
    .insertInto('domain_events')
    .columns(columns)
    .expression(selectNumbered(db, parameter('events')))
    .returning('id'),
);

/**
 * The statement that writes events. Each gets the next number of its subject. A publisher holds the subject's row until the commit, so that
 * no other transaction counts at the same time. Without that lock, the second transaction to commit violates the constraint of
 * `isEventNumberConstraint` and is tried again. So the numbers have no gaps and ascend in the order of the commits. `event_numbers` has the
 * last number of a subject whose events were all removed (`retention.ts`).
 */
export function insertEvents(events: readonly PendingEvent[]): Compilable<unknown> {
  return insertNumbered({ events: json(events.map((event, ordinal): OrderedEvent => ({ ...event, ordinal }))) });
}

function selectNumbered(db: Kysely<Tables>, events: JsonText<OrderedEvent[]>) {
  const alias = sql.raw(
    `x(ordinal int, id uuid, type text, "subjectKind" text, "subjectId" uuid, "teamId" uuid, "organizationId" uuid, data jsonb,
       "actorId" uuid, "actorType" text, "actorName" text)`,
  );
  const read = sql<ReadEvent>`(
    select x.ordinal, x.id, x.type, x."subjectKind" as subject_kind,
           coalesce(x."subjectId", (select i.id from installation i)) as subject_id, x."teamId" as team_id,
           x."organizationId" as organization_id, x.data, x."actorId" as actor_id, x."actorType" as actor_type,
           x."actorName" as actor_name
      from jsonb_to_recordset(${events}::jsonb) as ${alias})`;
  return db
    .selectFrom(read.as('e'))
    .select(['e.id', 'e.type', 'e.subjectKind', 'e.subjectId', 'e.teamId'])
    .select((eb) => sql<string>`${eb.ref('e.data')}`.as('data'))
    .select(['e.actorId', 'e.actorType', 'e.actorName'])
    .select((eb) => [
      eb.fn.coalesce('e.organizationId', organizationOfTeam(eb)).as('organizationId'),
      projectOf(eb).as('projectId'),
      nextNumber(eb).as('sequence'),
      sql<string>`clock_timestamp()`.as('createdAt'),
    ])
    .orderBy('e.ordinal');
}

function organizationOfTeam(eb: OverEvents) {
  return eb.selectFrom('teams as t').whereRef('t.id', '=', 'e.teamId').select('t.organizationId');
}

/** The project of the subject. If the transaction has deleted the subject's row, the project of its last event. */
function projectOf(eb: OverEvents) {
  const last = eb
    .selectFrom('domain_events as last')
    .whereRef('last.subjectKind', '=', 'e.subjectKind')
    .whereRef('last.subjectId', '=', 'e.subjectId')
    .orderBy('last.sequence', 'desc')
    .limit(1)
    .select('last.projectId');
  const owner = ownerOfAny('project', eb.ref('e.subjectKind'), eb.ref('e.subjectId'));
  return eb.fn.coalesce(owner, last, numbered(eb).select('n.projectId'));
}

/** The row of `event_numbers` for a subject whose events were all removed. */
function numbered(eb: OverEvents) {
  return eb
    .selectFrom('event_numbers as n')
    .whereRef('n.subjectKind', '=', 'e.subjectKind')
    .whereRef('n.subjectId', '=', 'e.subjectId');
}

/** The number after the last committed one of the subject, and after those that this statement has already assigned. */
function nextNumber(eb: OverEvents) {
  const last = eb
    .selectFrom('domain_events as earlier')
    .whereRef('earlier.subjectKind', '=', 'e.subjectKind')
    .whereRef('earlier.subjectId', '=', 'e.subjectId')
    .select((one) => one.fn.max('earlier.sequence').as('sequence'));
  const place = eb.fn
    .agg<number>('row_number')
    .over((over) => over.partitionBy(['e.subjectKind', 'e.subjectId']).orderBy('e.ordinal'));
  return sql<number>`coalesce(${last}, ${numbered(eb).select('n.sequence')}, 0) + ${place}`;
}
