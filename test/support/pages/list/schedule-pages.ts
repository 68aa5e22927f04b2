import { pages } from '#api/web/paths.ts';
import type { SeededSchedules } from '../schedules.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of schedules. */
export function schedulePages(schedules: SeededSchedules): DeclaredPage[] {
  const params = { id: schedules.weekly };
  const paused = { id: schedules.paused };
  const who = 'owner';
  return [
    declare('schedules', pages.schedules, { isPictured: true }),
    declare('schedules-empty', pages.schedules, { who: 'nobody' }),
    declare('schedule', pages.schedule, { params, who, isPictured: true }),
    declare('schedule-viewed', pages.schedule, { params, who: 'viewer' }),
    declare('schedule-paused', pages.schedule, { params: paused, who }),
    declare('schedule-of-strangers', pages.schedule, { answers: 404, params, who: 'fjordOwner' }),
    declare('schedule-new', pages.newSchedule, { who }),
    declare('schedule-new-assembly', pages.newSchedule, { who, query: { starts: 'assembly_run' } }),
    declare('schedule-new-refused', pages.newSchedule, { who: 'viewer' }),
    declare('schedule-edit', pages.editSchedule, { params, who }),
    declare('schedule-work', pages.editScheduledWork, { params, who }),
    declare('schedule-pause', pages.pauseSchedule, { params, who }),
    declare('schedule-resume', pages.resumeSchedule, { params: paused, who }),
    declare('schedule-trigger', pages.triggerSchedule, { params, who }),
    declare('schedule-delete', pages.deleteSchedule, { params, who }),
  ];
}
