import type { Logger } from 'pino';
import type { Em, Orm } from '#database/database.ts';
import { mayPass } from '#database/errors.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { followEvents } from '#domain/shared/events/kept-cursor.ts';
import { type EnabledMedia, notify } from './drafts.ts';
import { eventRules } from './event-rules.ts';
import { settleRequests, settlingTypes } from './settled-store.ts';

/** The types of the events that notify users, or make notifications superfluous. */
export const notifiedTypes: readonly string[] = [...new Set([...eventRules.keys(), ...settlingTypes])];

/** Finds the media that are available now. It is only called if somebody may be notified. */
type FindMedia = () => Promise<EnabledMedia>;

/** Notifies users of the next events. Returns how many events it read, or null while another process is doing it. */
export function notifyOfEvents(orm: Orm, findMedia: FindMedia, log: Pick<Logger, 'error'>): Promise<number | null> {
  return followEvents(orm, {
    table: 'notification_cursors',
    take: (em, events) => createNotifications(em, events, findMedia, log),
  });
}

/**
 * Processes all events together. If that fails, it processes each event by itself, and logs and skips those that fail again: one bad event
 * must not block all later ones.
 * @throws the error of the database if it may be temporary; the events are then processed again
 */
async function createNotifications(
  em: Em,
  events: readonly PublishedEvent[],
  findMedia: FindMedia,
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const notified = events.filter(({ type }) => eventRules.has(type) || settlingTypes.has(type));
  if (notified.length === 0) return;
  const failure = await notifyTogether(em, notified, findMedia);
  if (failure === undefined) return;
  for (const event of notified) {
    const error = await notifyTogether(em, [event], findMedia);
    if (error === undefined) continue;
    const facts = { err: error, event_id: event.id, event_type: event.type };
    log.error(facts, 'could not create the notifications of an event; the event is skipped');
  }
}

/** Processes events in a savepoint; returns the error that rolled it back, or undefined. @throws an error that may be temporary */
async function notifyTogether(em: Em, events: readonly PublishedEvent[], findMedia: FindMedia): Promise<unknown> {
  try {
    await em.transactional(async (savepoint) => {
      for (const event of events) {
        if (settlingTypes.has(event.type)) await settleRequests(savepoint, event);
        const draft = await eventRules.get(event.type)?.(savepoint, event);
        if (draft) await notify(savepoint, { cause: event.id, ...draft, at: event.at }, await findMedia());
      }
    });
    return undefined;
  } catch (error) {
    if (mayPass(error)) throw error;
    return error;
  }
}
