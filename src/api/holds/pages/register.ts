import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { confirmPause, submitPause, submitResumption } from './apply-pause.ts';
import { showFreezeWindows, submitFreezeWindow } from './freeze-windows.ts';
import { confirmUnlocking, showLockForm, submitLock, submitUnlocking } from './lock.ts';

/** Adds the pages of what keeps applies from starting: locks, freeze windows, and the pause of the installation. */
export function registerHoldPages(addPage: AddPage): void {
  addPage('GET', pages.lockEnvironment, showLockForm);
  addPage('POST', pages.lockEnvironment, submitLock);
  addPage('GET', pages.unlockEnvironment, confirmUnlocking);
  addPage('POST', pages.unlockEnvironment, submitUnlocking);
  addPage('GET', pages.freezeWindows, showFreezeWindows);
  addPage('POST', pages.freezeWindows, submitFreezeWindow);
  addPage('GET', pages.pauseApplies, confirmPause);
  addPage('POST', pages.pauseApplies, submitPause);
  addPage('POST', pages.resumeApplies, submitResumption);
}
