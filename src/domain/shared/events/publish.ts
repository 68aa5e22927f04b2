import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { type EventData, type EventTypeName, eventTypes } from '#domain/events.ts';
import type { Principal } from '../access/principal.ts';
import { newId } from '../ids.ts';
import { InvalidEvent } from './event-type.ts';
import type { EventReference, OutboxEntry } from './outbox.ts';
import type { EventSubscription } from './subscription.ts';

/** Who caused an event. */
export type EventActor = Pick<Principal, 'id' | 'kind' | 'name'>;

/** An event that a transaction publishes. */
export interface NewEvent<Type extends EventTypeName = EventTypeName> {
  readonly type: Type;
  /** The id of the subject, whose kind the type declares. */
  readonly subjectId: string;
  /** Who owns the subject now. The organization is the team's unless given. */
  readonly owners: { readonly teamId: string | null; readonly organizationId?: string | null };
  readonly data: EventData<Type>;
}

/** An event as its row gets it, but for what the database adds: number, organization, time and transaction. */
export interface PendingEvent {
  readonly id: string;
  readonly type: EventTypeName;
  readonly subject_kind: string;
  readonly subject_id: string;
  readonly team_id: string | null;
  readonly organization_id: string | null;
  readonly data: Record<string, unknown>;
  readonly actor_id: string;
  readonly actor_type: EventActor['kind'];
  readonly actor_name: string;
}

/** @throws InvalidEvent where the payload does not fit the schema of its type */
export function toPendingEvent(event: NewEvent, actor: EventActor): PendingEvent {
  const { subject, data: schema } = eventTypes[event.type];
  const checked = schema.safeParse(event.data);
  if (!checked.success) {
    const problems = checked.error.issues.map(({ path, message }) => `${path.join('.') || 'data'}: ${message}`);
    throw new InvalidEvent(event.type, problems.join('; '));
  }
  return {
    id: newId(),
    type: event.type,
    subject_kind: subject,
    subject_id: event.subjectId,
    team_id: event.owners.teamId,
    organization_id: event.owners.organizationId ?? null,
    data: checked.data,
    actor_id: actor.id,
    actor_type: actor.kind,
    actor_name: actor.name,
  };
}

/** What the subscribers of some events are to receive. */
export function deliveriesOf(
  events: readonly PendingEvent[],
  subscriptions: readonly EventSubscription[],
): OutboxEntry<EventReference>[] {
  return events.flatMap(({ id, type, subject_kind: kind, subject_id: subjectId }) =>
    subscriptions
      .filter(({ types }) => types.includes(type))
      .map(({ subscriber }) => ({
        subscriber,
        target: `${kind}/${subjectId}`,
        payload: { kind: 'event', event_id: id },
      })),
  );
}

/** The constraint that two transactions break which give the same number to events of one subject; see `insertEvents`. */
export const eventNumberConstraint = 'domain_events_subject_sequence_unique';

/**
 * The statement that writes events. Each gets the next number of its subject. A publisher holds the subject's row until the
 * commit, so that no other transaction counts at the same time; where one does not, the second to commit breaks
 * `eventNumberConstraint` and is tried again. So the numbers have no gaps and ascend in the order of the commits.
 */
export function insertEvents(em: Em, events: readonly PendingEvent[]) {
  const rows = events.map((event, ordinal) => ({ ...event, ordinal }));
  const source = sql<PendingEvent & { ordinal: number }>`jsonb_to_recordset(${json(rows)}::jsonb)`;
  const columns = sql.raw<'e'>(
    `e(ordinal int, id uuid, type text, subject_kind text, subject_id uuid, team_id uuid, organization_id uuid, data jsonb,
       actor_id uuid, actor_type text, actor_name text)`,
  );
  const connection = db(em);
  return connection
    .insertInto('domain_events')
    .columns([
      'id',
      'type',
      'subject_kind',
      'subject_id',
      'sequence',
      'team_id',
      'organization_id',
      'data',
      'actor_id',
      'actor_type',
      'actor_name',
      'created_at',
    ])
    .expression(
      connection
        .selectFrom(source.as<'e'>(columns))
        .select((eb) => {
          const last = eb
            .selectFrom('domain_events as d')
            .whereRef('d.subject_kind', '=', 'e.subject_kind')
            .whereRef('d.subject_id', '=', 'e.subject_id')
            .select((one) => one.fn.max('d.sequence').as('sequence'));
          const place = sql<number>`row_number() over (partition by ${eb.ref('e.subject_kind')}, ${eb.ref('e.subject_id')} order by ${eb.ref('e.ordinal')})`;
          const organization = eb
            .selectFrom('teams as t')
            .whereRef('t.id', '=', 'e.team_id')
            .select('t.organization_id');
          return [
            'e.id',
            'e.type',
            'e.subject_kind',
            'e.subject_id',
            sql<number>`coalesce(${last}, 0) + ${place}`.as('sequence'),
            'e.team_id',
            eb.fn.coalesce('e.organization_id', organization).as('organization_id'),
            sql<string>`${eb.ref('e.data')}`.as('data'),
            'e.actor_id',
            'e.actor_type',
            'e.actor_name',
            sql<string>`clock_timestamp()`.as('created_at'),
          ];
        })
        .orderBy('e.ordinal'),
    );
}
