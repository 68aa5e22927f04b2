import { type ElementOf, listParts } from './areas.ts';

/**
 * Every subscriber of events. The worker makes the function that takes its events (`createEventHandlers`,
 * `src/worker/background/event-handlers.ts`). It receives the events that are published from the release on that has it.
 * A migration deletes the outbox rows of a subscriber that is removed.
 */
export const eventSubscriptions: readonly ElementOf<'subscriptions'>[] = listParts('subscriptions');
