import type { KindsOfNews } from '#domain/news/kind-of-news.ts';

/** What people and channels are told of instances. */
export const instanceNews = {
  'instance.expiring': {
    label: 'Time to live ends',
    toUsers: 'The service destroys an instance within a day, because its time to live ends, in one of your teams.',
    toChannels: 'The service destroys an instance within a day, because its time to live ends.',
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
