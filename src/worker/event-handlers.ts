import type { eventSubscriptions } from '#domain/event-subscriptions.ts';
import type { EventHandler } from '#engine/event-delivery.ts';

/** The function of every subscriber that `src/domain/event-subscriptions.ts` lists. */
export const eventHandlers: Readonly<Record<(typeof eventSubscriptions)[number]['subscriber'], EventHandler>> = {};
