import type { Orm } from '#database/database.ts';
import { followEvents } from '#domain/shared/events/kept-cursor.ts';
import { fanOutEvents } from './fan-out-store.ts';

/** Creates the deliveries of the next events. Returns the number of events that it read, or null while another process does this. */
export function fanOut(orm: Orm): Promise<number | null> {
  return followEvents(orm, {
    table: 'webhook_cursors',
    lock: 'delivery-coordinator/webhook fan-out',
    take: (em, events) =>
      fanOutEvents(
        em,
        events.map(({ id }) => id),
      ),
  });
}
