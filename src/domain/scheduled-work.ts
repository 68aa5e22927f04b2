import type { ScheduledWork } from '#domain/shared/schedules/scheduled-work.ts';

/** Everything that schedules of the engine start. */
export const scheduledWorks: readonly ScheduledWork[] = [];
