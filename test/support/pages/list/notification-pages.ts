import { pages } from '#api/web/paths.ts';
import type { Installation } from '../realistic-installation.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of notifications. */
export function notificationPages({ runs }: Installation): DeclaredPage[] {
  return [
    declare('notifications', pages.notifications, { isPictured: true }),
    declare('notifications-all', pages.notifications, { query: { show: 'all' } }),
    declare('notifications-of-a-kind', pages.notifications, { query: { kind: 'run.approval_requested' } }),
    declare('notifications-empty', pages.notifications, { who: 'fjordOwner' }),
    declare('notification-thread', pages.notificationThread, { params: { id: runs.needsApproval.id } }),
    declare('notification-preferences', pages.notificationPreferences, { isPictured: true }),
  ];
}
