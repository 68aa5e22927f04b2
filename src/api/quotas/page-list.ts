import type { ConfirmationsOn } from '#api/web/declarations/page-list.ts';
import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  quotas: '/admin/quotas',
  newQuota: '/admin/quotas/new',
  quota: '/admin/quotas/:scope/:ownerID',
  editQuota: '/admin/quotas/:scope/:ownerID/edit',
  recountQuota: '/admin/quotas/:scope/:ownerID/recount',
  clearQuota: '/admin/quotas/:scope/:ownerID/clear',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.quotas]: { cleared: 'Quota removed. Waiting runs start.' },
  [pages.quota]: {
    saved: 'Limits saved.',
    recounted: 'Use counted again.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;
