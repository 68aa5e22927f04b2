import type { ConfirmationsOn } from '#api/web/declarations/page-list.ts';
import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  settings: '/admin/settings',
  settingsSection: '/admin/settings/:section',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.settings]: { saved: 'Settings saved.' },
} as const satisfies ConfirmationsOn<typeof pages>;
