import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as schedules from './operations.ts';
import { registerSchedulePages } from './pages/register.ts';

export const area: Area = {
  operations: [schedules],
  tags: {
    schedules: 'Runs and assembly runs at set times.',
  },
  pages: [registerSchedulePages],
  navigation: [
    { group: 'Workloads', label: 'Schedules', icon: 'clock', path: pages.schedules, operation: 'schedules.list' },
  ],
};
