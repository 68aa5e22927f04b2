import type { Expression, SqlBool } from 'kysely';
import type { z } from 'zod';
import type { EventTypeName } from '#domain/events.ts';
import type { JsonValue } from '../values/json.ts';
import type { PrincipalKind } from '../vocabulary/roles.ts';

/** The declaration of one type of events, in the `events.ts` of its area. */
export interface EventType {
  /** The kind of thing that the event is about, such as `run`. */
  readonly subject: string;
  /** What happened, for people who choose which events to receive. */
  readonly summary: string;
  /**
   * The actions of the audit that always publish this event, besides the one of its own name. They have no event of their own
   * (`audited-events.ts`).
   */
  readonly covers?: readonly string[];
  /**
   * The payload. Subscribers outside the service receive it, so it must not contain a secret: the schema is strict and refuses every field
   * that it does not name.
   */
  readonly data: z.ZodObject;
}

/** A published event must fit the schema of its type; anything else is a defect of the publisher. */
export class InvalidEvent extends Error {
  constructor(type: string, problem: string) {
    super(`the event ${type} does not fit its declared payload: ${problem}`);
    this.name = 'InvalidEvent';
  }
}

/** Who receives which events. */
export interface EventSubscription {
  /** Names the subscriber in the outbox; it never changes. */
  readonly subscriber: string;
  readonly types: readonly EventTypeName[];
  /**
   * For types with many events of which few concern the subscriber: whether an event of a subject does. PostgreSQL asks when the event is
   * written, so what makes the event matter must have been committed before, or be written by the same transaction.
   */
  readonly concerns?: { readonly [Type in EventTypeName]?: (subjectId: Expression<string>) => Expression<SqlBool> };
}

/** An event that was committed. */
export interface PublishedEvent {
  /** The id of the event in every delivery; a repeated delivery has the same id. */
  readonly id: string;
  readonly type: EventTypeName;
  readonly subject: { readonly kind: string; readonly id: string };
  /** Counts the events of the subject from 1. */
  readonly sequence: number;
  readonly data: Readonly<Record<string, JsonValue>>;
  readonly organizationId: string | null;
  readonly teamId: string | null;
  readonly projectId: string | null;
  readonly actor: { readonly type: PrincipalKind; readonly id: string; readonly name: string };
  /** The time as PostgreSQL's text. */
  readonly at: string;
}
