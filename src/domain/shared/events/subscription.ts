import type { EventTypeName } from '#domain/events.ts';

/** Who receives which events. */
export interface EventSubscription {
  /** Names the subscriber in the outbox; it never changes. */
  readonly subscriber: string;
  readonly types: readonly EventTypeName[];
}
