import type { ScheduledWork } from '#domain/shared/schedules/scheduled-work.ts';
import { monitorWork } from './drift/scans/scheduled-scans.ts';
import { scheduleWork } from './schedules/fire-schedule.ts';

/**
 * All kinds of work that schedules of the engine start. No `area.ts` exports them, because this work uses the lists that are made from
 * those files.
 */
export const scheduledWorks: readonly ScheduledWork[] = [monitorWork, scheduleWork];
