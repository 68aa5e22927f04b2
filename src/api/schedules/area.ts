import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as schedules from './operations.ts';
import { scheduleForms } from './pages/forms.ts';
import { showSchedules } from './pages/list-page.ts';
import { streamScheduleChanges } from './pages/schedule-changes.ts';
import { showSchedule } from './pages/schedule-page.ts';

export const area: Area = {
  operations: [schedules],
  tags: {
    schedules: 'Runs and assembly runs at set times.',
  },
  pages: [
    page('GET', pages.schedules, showSchedules),
    ...scheduleForms,
    page('GET', pages.schedule, showSchedule),
    page('GET', pages.scheduleChanges, streamScheduleChanges),
  ],
  navigation: [
    { group: 'Workloads', label: 'Schedules', icon: 'clock', path: pages.schedules, operation: 'schedules.list' },
  ],
};
