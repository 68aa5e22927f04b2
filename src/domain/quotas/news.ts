import type { KindsOfNews } from '#domain/news/kind-of-news.ts';

/** What people and channels are told of quotas. */
export const quotaNews = {
  'quota.exceeded': {
    label: 'Quota full',
    toUsers: 'A quota is full. Administrators of the installation hear of it.',
    toChannels: 'A quota is full.',
    subject: 'quota',
    asksToAct: true,
  },
} as const satisfies KindsOfNews;
