import type { KindsOfNews } from '#domain/shared/vocabulary/kind-of-news.ts';

/** The notifications about quotas. */
export const quotaNews = {
  'quota.exceeded': {
    label: 'Quota reached',
    toUsers: 'A quota is reached. Only administrators are notified.',
    toChannels: 'A quota is reached.',
    subject: 'quota',
    asksToAct: true,
  },
} as const satisfies KindsOfNews;
