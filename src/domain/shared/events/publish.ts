import { type EventData, type EventTypeName, eventTypes } from '#domain/events.ts';
import type { Principal } from '../access/principal.ts';
import { newId } from '../ids.ts';
import { type EventSubscription, InvalidEvent } from './event-type.ts';
import type { EventReference, OutboxEntry } from './outbox.ts';

/** Who caused an event. */
export type EventActor = Pick<Principal, 'id' | 'kind' | 'name'>;

/** An event that a transaction publishes. */
export interface NewEvent<Type extends EventTypeName = EventTypeName> {
  readonly type: Type;
  /** The id of the subject, whose kind the type declares. */
  readonly subjectId: string;
  /** The present owners of the subject. By default, the organization is that of the team. */
  readonly owners: { readonly teamId: string | null; readonly organizationId?: string | null };
  readonly data: EventData<Type>;
}

/** An event as its row gets it, without what the database adds: number, organization, time and transaction. */
export interface PendingEvent {
  readonly id: string;
  readonly type: string;
  readonly subjectKind: string;
  /** Null: the installation is the subject. */
  readonly subjectId: string | null;
  readonly teamId: string | null;
  readonly organizationId: string | null;
  readonly data: Record<string, unknown>;
  readonly actorId: string;
  readonly actorType: EventActor['kind'];
  readonly actorName: string;
}

/** @throws InvalidEvent if the payload does not fit the schema of its type */
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
    subjectKind: subject,
    subjectId: event.subjectId,
    teamId: event.owners.teamId,
    organizationId: event.owners.organizationId ?? null,
    data: checked.data,
    actorId: actor.id,
    actorType: actor.kind,
    actorName: actor.name,
  };
}

/** The outbox entries for the subscribers of some events. */
export function deliveriesOf(
  events: readonly PendingEvent[],
  subscriptions: readonly EventSubscription[],
): OutboxEntry<EventReference>[] {
  return events.flatMap(({ id, type, subjectKind: kind, subjectId }) =>
    subscriptions
      .filter(({ types }) => types.some((each) => each === type))
      .map(({ subscriber }) => ({
        subscriber,
        type,
        subjectId,
        target: `${kind}/${subjectId ?? 'installation'}`,
        payload: { kind: 'event', event_id: id },
      })),
  );
}
