import type { ScheduledWork } from '#domain/shared/schedules/scheduled-work.ts';
import { monitorWork } from './drift/scans/scheduled-scans.ts';
import { scheduleWork } from './schedules/fire-schedule.ts';

/** Everything that schedules of the engine start. No `area.ts` exports it: what it starts reads the lists that are made from those. */
export const scheduledWorks: readonly ScheduledWork[] = [monitorWork, scheduleWork];
