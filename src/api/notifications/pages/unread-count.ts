import type { InboxCount } from '#api/web/frame/inbox-link.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { countNewestUnread } from '#domain/notifications/store.ts';
import { unread } from '../operations.ts';

/** The number of unread notifications for the bar above every page; null for visitors who cannot have any. */
export async function countUnreadForBar(visit: Visit): Promise<InboxCount | null> {
  return visit.mayDo(unread).allowed ? countNewestUnread(visit.em, visit.principal) : null;
}
