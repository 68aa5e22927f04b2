import { type ElementOf, listParts } from './areas.ts';

/**
 * Every subscriber of events. The worker makes the function that takes its events (`createEventHandlers`,
 * `src/worker/background/event-handlers.ts`). A subscriber receives the events that are published by releases that contain it. A migration
 * deletes the outbox rows of a subscriber that is removed.
 */
export const eventSubscriptions: readonly ElementOf<'subscriptions'>[] = listParts('subscriptions');
