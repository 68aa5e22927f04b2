/** The subscriber that receives the messages to workflows. */
export const engineSubscriber = 'engine';

/** A message to a workflow. It holds ids and never a secret. */
export type EngineMessage =
  | { kind: 'start'; workflow: string; input: Record<string, string> }
  | { kind: 'signal'; signal: string }
  | { kind: 'cancel' };

/** Points to the event that a subscriber receives. */
export interface EventReference {
  kind: 'event';
  event_id: string;
}

export type OutboxPayload = EngineMessage | EventReference;

/** Something to deliver after the commit. */
export interface OutboxEntry<Payload extends OutboxPayload = OutboxPayload> {
  readonly subscriber: string;
  /** A subscriber receives the entries of one target in order. For the engine it is the workflow's id, else the event's subject. */
  readonly target: string;
  readonly payload: Payload;
}

/** A message for the engine, as the process that committed it delivers it. */
export interface OutboxMessage {
  /** The number of its row: messages to one target are delivered in this order. */
  readonly id: string;
  readonly target: string;
  readonly payload: EngineMessage;
}

/** How long a message belongs to the process that committed it. After that, a sweeper delivers it. */
export const ownDeliveryMs = 2_000;
