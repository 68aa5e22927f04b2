import { type ExpressionBuilder, type Kysely, sql } from 'kysely';
import type { Compilable, ParameterOf } from '#database/queries.ts';
import { type JsonText, json } from '#database/tables.ts';
import { prepareChange } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { ownerOfAny } from '../ownership-graph/any-owner.ts';
import type { PendingEvent } from './publish.ts';

/**
 * Whether a broken constraint says that two transactions gave the same number to events of one subject; see `insertEvents`. Each partition of the
 * events has its own such constraint.
 */
export function isEventNumberConstraint(name: string | undefined): boolean {
  return /^domain_events_\w+_subject_kind_subject_id_sequence_key$/.test(name ?? '');
}

interface OrderedEvent extends PendingEvent {
  /** Its place among the events of its transaction. */
  readonly ordinal: number;
}

/** With the id of the installation, where that is the subject. */
interface ReadEvent extends OrderedEvent {
  readonly subject_id: string;
}

type OverEvents = ExpressionBuilder<Tables & { e: ReadEvent }, 'e'>;

/** In the order in which `selectNumbered` selects them. */
const columns = [
  'id',
  'type',
  'subject_kind',
  'subject_id',
  'team_id',
  'data',
  'actor_id',
  'actor_type',
  'actor_name',
  'organization_id',
  'project_id',
  'sequence',
  'created_at',
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
 * The statement that writes events. Each gets the next number of its subject. A publisher holds the subject's row until the
 * commit, so that no other transaction counts at the same time; if one does not, the second to commit breaks the constraint of
 * `isEventNumberConstraint` and is tried again. So the numbers have no gaps and ascend in the order of the commits. `event_numbers` has the last
 * number of a subject whose events were all removed (`retention.ts`).
 */
export function insertEvents(events: readonly PendingEvent[]): Compilable<unknown> {
  return insertNumbered({ events: json(events.map((event, ordinal): OrderedEvent => ({ ...event, ordinal }))) });
}

function selectNumbered(db: Kysely<Tables>, events: JsonText<OrderedEvent[]>) {
  const alias = sql.raw(
    `x(ordinal int, id uuid, type text, subject_kind text, subject_id uuid, team_id uuid, organization_id uuid, data jsonb,
       actor_id uuid, actor_type text, actor_name text)`,
  );
  const read = sql<ReadEvent>`(
    select x.ordinal, x.id, x.type, x.subject_kind, coalesce(x.subject_id, (select i.id from installation i)) as subject_id,
           x.team_id, x.organization_id, x.data, x.actor_id, x.actor_type, x.actor_name
      from jsonb_to_recordset(${events}::jsonb) as ${alias})`;
  return db
    .selectFrom(read.as('e'))
    .select(['e.id', 'e.type', 'e.subject_kind', 'e.subject_id', 'e.team_id'])
    .select((eb) => sql<string>`${eb.ref('e.data')}`.as('data'))
    .select(['e.actor_id', 'e.actor_type', 'e.actor_name'])
    .select((eb) => [
      eb.fn.coalesce('e.organization_id', organizationOfTeam(eb)).as('organization_id'),
      projectOf(eb).as('project_id'),
      nextNumber(eb).as('sequence'),
      sql<string>`clock_timestamp()`.as('created_at'),
    ])
    .orderBy('e.ordinal');
}

function organizationOfTeam(eb: OverEvents) {
  return eb.selectFrom('teams as t').whereRef('t.id', '=', 'e.team_id').select('t.organization_id');
}

/** The project of the subject. A row that the transaction has deleted has none any more: then that of its last event. */
function projectOf(eb: OverEvents) {
  const last = eb
    .selectFrom('domain_events as last')
    .whereRef('last.subject_kind', '=', 'e.subject_kind')
    .whereRef('last.subject_id', '=', 'e.subject_id')
    .orderBy('last.sequence', 'desc')
    .limit(1)
    .select('last.project_id');
  const owner = ownerOfAny('project', eb.ref('e.subject_kind'), eb.ref('e.subject_id'));
  return eb.fn.coalesce(owner, last, numbered(eb).select('n.project_id'));
}

/** What is left of the events of the subject, if all of them were removed. */
function numbered(eb: OverEvents) {
  return eb
    .selectFrom('event_numbers as n')
    .whereRef('n.subject_kind', '=', 'e.subject_kind')
    .whereRef('n.subject_id', '=', 'e.subject_id');
}

/** The number after the last committed one of the subject and after those that this statement gives to it. */
function nextNumber(eb: OverEvents) {
  const last = eb
    .selectFrom('domain_events as earlier')
    .whereRef('earlier.subject_kind', '=', 'e.subject_kind')
    .whereRef('earlier.subject_id', '=', 'e.subject_id')
    .select((one) => one.fn.max('earlier.sequence').as('sequence'));
  const place = eb.fn
    .agg<number>('row_number')
    .over((over) => over.partitionBy(['e.subject_kind', 'e.subject_id']).orderBy('e.ordinal'));
  return sql<number>`coalesce(${last}, ${numbered(eb).select('n.sequence')}, 0) + ${place}`;
}
