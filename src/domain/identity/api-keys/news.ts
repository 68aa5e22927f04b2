import type { KindsOfNews } from '#domain/shared/vocabulary/kind-of-news.ts';

/** The notifications about keys. */
export const apiKeyNews = {
  'api_key.expiring': {
    label: 'Key expires',
    toUsers: 'A key of yours, or of a service account that you own, expires within a week.',
    subject: 'api_key',
    asksToAct: true,
  },
} as const satisfies KindsOfNews;
