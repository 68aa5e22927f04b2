import type { EventSubscription } from './shared/events/subscription.ts';

/**
 * Every subscriber of events. A new one adds its line here, and the worker makes the function that takes its events
 * (`createEventHandlers`, `src/worker/event-handlers.ts`). It receives the events that are published from then on.
 * A migration deletes the outbox rows of a subscriber that is removed.
 */
export const eventSubscriptions = [] as const satisfies readonly EventSubscription[];
