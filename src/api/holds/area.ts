import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as applyPause from './apply-pause-operations.ts';
import * as environments from './environment-operations.ts';
import { applyPausePages } from './pages/apply-pause.ts';
import { showFreezeWindows, submitFreezeWindow } from './pages/freeze-windows.ts';
import { lockForms } from './pages/lock.ts';

export const area: Area = {
  operations: [environments, applyPause],
  tags: {
    apply_pause: 'The pause of all applies of the installation.',
  },
  pages: [
    ...lockForms,
    page('GET', pages.freezeWindows, showFreezeWindows),
    page('POST', pages.freezeWindows, submitFreezeWindow),
    ...applyPausePages,
  ],
};
