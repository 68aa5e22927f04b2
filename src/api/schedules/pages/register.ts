import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerScheduleForms } from './forms.ts';
import { showSchedules } from './list-page.ts';
import { streamScheduleChanges } from './schedule-changes.ts';
import { showSchedule } from './schedule-page.ts';

/** Adds the pages of schedules. */
export function registerSchedulePages(addPage: AddPage): void {
  addPage('GET', pages.schedules, showSchedules);
  registerScheduleForms(addPage);
  addPage('GET', pages.schedule, showSchedule);
  addPage('GET', pages.scheduleChanges, streamScheduleChanges);
}
