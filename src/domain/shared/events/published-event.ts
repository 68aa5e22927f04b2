import type { EventTypeName } from '#domain/events.ts';
import type { JsonValue } from '../values/json.ts';
import type { PrincipalKind } from '../vocabulary/roles.ts';

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
