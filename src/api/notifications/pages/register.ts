import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showNotifications } from './list-page.ts';
import { registerMarks } from './marks.ts';
import { registerPreferences } from './preferences-page.ts';
import { showThread } from './thread-page.ts';

/** Adds the pages of notifications. */
export function registerNotificationPages(addPage: AddPage): void {
  addPage('GET', pages.notifications, showNotifications);
  registerPreferences(addPage);
  addPage('GET', pages.notificationThread, showThread);
  registerMarks(addPage);
}
