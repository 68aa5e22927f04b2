import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerApplyPause } from './apply-pause.ts';
import { showFreezeWindows, submitFreezeWindow } from './freeze-windows.ts';
import { registerLockForms } from './lock.ts';

/** Adds the pages of what keeps applies from starting: locks, freeze windows, and the pause of the installation. */
export function registerHoldPages(addPage: AddPage): void {
  registerLockForms(addPage);
  addPage('GET', pages.freezeWindows, showFreezeWindows);
  addPage('POST', pages.freezeWindows, submitFreezeWindow);
  registerApplyPause(addPage);
}
