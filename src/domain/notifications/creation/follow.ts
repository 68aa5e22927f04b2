import type { Em, Orm } from '#database/database.ts';
import type { PublishedEvent } from '#domain/shared/events/event-store.ts';
import { followEvents } from '#domain/shared/events/kept-cursor.ts';
import { type Telling, tell } from './drafts.ts';
import { eventRules } from './event-rules.ts';

/** Tells users of the next events. Answers how many events it read, or null while another process is at it. */
export function notifyOfEvents(orm: Orm, how: Telling): Promise<number | null> {
  return followEvents(orm, {
    table: 'notification_cursors',
    lock: 'delivery-coordinator/notifications',
    take: (em, events) => tellOfEvents(em, events, how),
  });
}

async function tellOfEvents(em: Em, events: readonly PublishedEvent[], how: Telling): Promise<void> {
  for (const event of events) {
    const draft = await eventRules.get(event.type)?.(em, event);
    if (draft) await tell(em, { ...draft, cause: event.id, at: event.at }, how);
  }
}
