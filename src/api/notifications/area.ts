import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as notifications from './operations.ts';
import { showNotifications } from './pages/list-page.ts';
import { marks } from './pages/marks.ts';
import { preferencesForm } from './pages/preferences-page.ts';
import { showThread } from './pages/thread-page.ts';
import * as preferences from './preference-operations.ts';
import * as threads from './thread-operations.ts';

export const area: Area = {
  operations: [preferences, notifications, threads],
  tags: {
    notifications: 'What you were told: what waits for you, how it ended, what ends soon.',
    notification_threads: 'What you were told, by what it is about.',
    notification_preferences: 'Of which kinds of notifications you want to hear.',
  },
  pages: [
    page('GET', pages.notifications, showNotifications),
    preferencesForm,
    page('GET', pages.notificationThread, showThread),
    ...marks,
  ],
};
