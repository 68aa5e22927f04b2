/** What the engine is told. Ids only: nothing that is said here may be a secret. */
export type OutboxPayload =
  | { kind: 'start'; workflow: string; input: Record<string, string> }
  | { kind: 'signal'; signal: string }
  | { kind: 'cancel' };

/** Something that a workflow is to hear. */
export interface Told {
  /** The id of the workflow that it is for. */
  readonly target: string;
  readonly payload: OutboxPayload;
}

export interface OutboxMessage extends Told {
  /** The row's number: messages to one target are delivered in this order. */
  readonly id: string;
}

/** How long a row belongs to the process that committed it; a sweeper takes it after that. */
export const ownDeliveryMs = 2_000;
