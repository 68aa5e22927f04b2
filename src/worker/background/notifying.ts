import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import type { MailServer } from '#domain/messages/mail/mail-server.ts';
import { media } from '#domain/messages/model.ts';
import type { Telling } from '#domain/notifications/creation/drafts.ts';
import { notifyOfEvents } from '#domain/notifications/creation/follow.ts';
import { tellOfUpcomingEnds } from '#domain/notifications/creation/upcoming.ts';
import { removeOldNotifications } from '#domain/notifications/store.ts';
import { readGates } from '#domain/settings/store.ts';
import { describeClosed } from '#domain/shared/features/gates.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const followMs = 1_000;
const upkeepMs = 10 * 60_000;

export interface NotifyingDeps {
  readonly orm: Orm;
  readonly log: Logger;
  /** Null if this installation sends no e-mail. */
  readonly mail: MailServer | null;
}

/** Notifies users of new events. One worker does it at a time. */
export function openNotifying({ orm, log, mail }: NotifyingDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs: followMs,
    log,
    failure: 'could not tell users of new events',
    run: async () => ((await notifyOfEvents(orm, await readTelling(orm, mail), log)) ? 'again' : undefined),
  });
}

/** Notifies owners of what expires soon, and removes old notifications. Any number of workers may do so. */
export function openNotificationUpkeep({ orm, log, mail }: NotifyingDeps): PeriodicTask {
  return new PeriodicTask({
    intervalMs: upkeepMs,
    log,
    failure: 'could not tell owners of what ends soon, or could not remove old notifications',
    run: async () => {
      await tellOfUpcomingEnds(orm.em.fork(), await readTelling(orm, mail), log);
      return (await removeOldNotifications(orm.em.fork())) ? 'again' : undefined;
    },
  });
}

/** How notifications are delivered now. While they are turned off, they are created, but none leaves the service. */
async function readTelling(orm: Orm, mail: MailServer | null): Promise<Telling> {
  if (describeClosed('notifications', await readGates(orm.em.fork())) !== null) return new Set();
  return new Set(media.filter((medium) => medium !== 'email' || mail !== null));
}
