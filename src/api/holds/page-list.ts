import type { ConfirmationsOn } from '#api/web/declarations/page-list.ts';
import type { LocalPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  pauseApplies: '/workloads/apply-pause',
  resumeApplies: '/workloads/apply-pause/end',
  lockEnvironment: '/environments/:id/lock',
  unlockEnvironment: '/environments/:id/unlock',
  freezeWindows: '/environments/:id/freeze-windows',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.freezeWindows]: { saved: 'Freeze windows saved.' },
} as const satisfies ConfirmationsOn<typeof pages>;
