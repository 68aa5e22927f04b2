import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  schedules: '/schedules',
  newSchedule: '/schedules/new',
  schedule: '/schedules/:id',
  scheduleChanges: '/schedules/:id/stream',
  editSchedule: '/schedules/:id/edit',
  editScheduledWork: '/schedules/:id/work',
  pauseSchedule: '/schedules/:id/pause',
  resumeSchedule: '/schedules/:id/resume',
  triggerSchedule: '/schedules/:id/trigger',
  deleteSchedule: '/schedules/:id/delete',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.schedules]: { deleted: 'Schedule deleted. Running work continues.' },
  [pages.schedule]: {
    created: 'Schedule created.',
    saved: 'Changes saved.',
    paused: 'Schedule paused.',
    resumed: 'Schedule resumed.',
    triggered: 'Work started. It appears below in a moment.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  schedules: {
    kind: 'schedule',
    label: 'Schedules',
    icon: 'clock',
    page: ({ id }) => toPath(pages.schedule, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
