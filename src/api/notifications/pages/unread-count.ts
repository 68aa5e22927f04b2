import type { InboxCount } from '#api/web/frame/inbox-link.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { countNewestUnread } from '#domain/notifications/store.ts';
import { unread } from '../operations.ts';

/** How many unread notifications the bar above every page shows; null for who has none. */
export async function countUnreadForBar(visit: Visit): Promise<InboxCount | null> {
  return visit.mayDo(unread).allowed ? countNewestUnread(visit.em, visit.principal) : null;
}
