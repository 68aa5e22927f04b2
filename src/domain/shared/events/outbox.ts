/** The subscriber that receives the messages to workflows. */
export const engineSubscriber = 'engine';

/** A message to a workflow, or about a schedule. It contains ids and never a secret. */
export type EngineMessage =
  | { kind: 'start'; workflow: string; input: Readonly<Record<string, unknown>> }
  | { kind: 'signal'; signal: string }
  | { kind: 'cancel' }
  | { kind: 'schedule_upsert'; schedule: EngineSchedule }
  | { kind: 'schedule_delete' };

/** A schedule of the engine, which starts a workflow at set times. */
export interface EngineSchedule {
  workflow: string;
  input: Record<string, string>;
  times: { everySeconds: number; offsetSeconds: number } | { cron: string; timezone: string };
  /** The engine delays each start by a random part of this. */
  jitterSeconds: number;
  isPaused: boolean;
}

/** A reference to the event that a subscriber receives. */
export interface EventReference {
  kind: 'event';
  event_id: string;
}

export type OutboxPayload = EngineMessage | EventReference;

/** Something to deliver after the commit. */
export interface OutboxEntry<Payload extends OutboxPayload = OutboxPayload> {
  readonly subscriber: string;
  /**
   * A subscriber receives the entries of one target in order. For the engine it is the id of the workflow or the schedule, else the event's
   * subject.
   */
  readonly target: string;
  readonly payload: Payload;
  /** The type and the subject of the event; none for the engine. */
  readonly type?: string;
  readonly subjectId?: string | null;
}

/** A message for the engine, as the process that committed it delivers it. */
export interface OutboxMessage {
  /** The number of its row: messages to one target are delivered in this order. */
  readonly id: string;
  readonly target: string;
  readonly payload: EngineMessage;
}

/** How long only the process that committed a message delivers it. After that, a sweeper does. */
export const ownDeliveryMs = 2_000;
