import type { z } from 'zod';

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
