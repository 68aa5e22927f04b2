import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';
import { mayPass } from '#database/errors.ts';
import { followEvents } from '#domain/shared/events/kept-cursor.ts';
import type { PublishedEvent } from '#domain/shared/events/published-event.ts';
import { type Telling, tell } from './drafts.ts';
import { eventRules } from './event-rules.ts';
import { settleRequests, settlingTypes } from './settled-store.ts';

/** Tells users of the next events. Answers how many events it read, or null while another process is at it. */
export function notifyOfEvents(orm: Orm, how: Telling, log: Pick<Logger, 'error'>): Promise<number | null> {
  return followEvents(orm, {
    table: 'notification_cursors',
    lock: 'delivery-coordinator/notifications',
    take: (em, events) => tellOfEvents(em, events, how, log),
  });
}

/**
 * Tells of all events together. If that fails, it tells of each by itself, and logs and leaves out those that fail again: one bad event must
 * not hold up all later ones.
 * @throws what the database threw if the failure may pass; the events are taken again then
 */
async function tellOfEvents(
  em: Em,
  events: readonly PublishedEvent[],
  how: Telling,
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const told = events.filter(({ type }) => eventRules.has(type) || settlingTypes.has(type));
  if (told.length === 0) return;
  const failure = await tellTogether(em, told, how);
  if (failure === undefined) return;
  for (const event of told) {
    const error = await tellTogether(em, [event], how);
    if (error === undefined) continue;
    const facts = { err: error, event_id: event.id, event_type: event.type };
    log.error(facts, 'could not create the notifications of an event; the event is skipped');
  }
}

/** Tells of events in a savepoint; the error that undid it, or undefined. @throws an error that may pass */
async function tellTogether(em: Em, events: readonly PublishedEvent[], how: Telling): Promise<unknown> {
  try {
    await em.transactional(async (savepoint) => {
      for (const event of events) {
        if (settlingTypes.has(event.type)) await settleRequests(savepoint, event);
        const draft = await eventRules.get(event.type)?.(savepoint, event);
        if (draft) await tell(savepoint, { cause: event.id, ...draft, at: event.at }, how);
      }
    });
    return undefined;
  } catch (error) {
    if (mayPass(error)) throw error;
    return error;
  }
}
