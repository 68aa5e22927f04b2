import type { KindsOfNews } from '#domain/shared/vocabulary/kind-of-news.ts';

/** The notifications about instances. */
export const instanceNews = {
  'instance.expiring': {
    label: 'Instance expires',
    toUsers: 'An instance of one of your teams is destroyed within a day, because its time to live ends.',
    toChannels: 'An instance is destroyed within a day, because its time to live ends.',
    subject: 'instance',
    asksToAct: true,
  },
  'instance.follow_failed': {
    label: 'Outputs not followed',
    toUsers:
      'An instance could not follow outputs that changed, or may not read them any longer. You let it follow, or may in its team.',
    toChannels: 'An instance could not follow outputs that changed, or may not read them any longer.',
    subject: 'instance',
    asksToAct: true,
  },
} as const satisfies KindsOfNews;
