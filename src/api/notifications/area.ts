import type { Area } from '#api/web/declarations/area.ts';
import * as notifications from './operations.ts';
import { registerNotificationPages } from './pages/register.ts';
import * as preferences from './preference-operations.ts';
import * as threads from './thread-operations.ts';

export const area: Area = {
  operations: [preferences, notifications, threads],
  tags: {
    notifications: 'What you were told: what waits for you, how it ended, what ends soon.',
    notification_threads: 'What you were told, by what it is about.',
    notification_preferences: 'Of which kinds of notifications you want to hear.',
  },
  pages: [registerNotificationPages],
};
