import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showDrift } from './drift-page.ts';
import { registerFindingForms } from './finding-forms.ts';
import { showFinding } from './finding-page.ts';
import { streamMonitorChanges } from './monitor-changes.ts';
import { registerMonitorForms } from './monitor-forms.ts';
import { showMonitor } from './monitor-page.ts';

/** Adds the pages of drift: what differs, the monitors that look for it, and what can be done about it. */
export function registerDriftPages(addPage: AddPage): void {
  addPage('GET', pages.drift, showDrift);
  addPage('GET', pages.driftMonitor, showMonitor);
  addPage('GET', pages.driftMonitorChanges, streamMonitorChanges);
  addPage('GET', pages.driftFinding, showFinding);
  registerMonitorForms(addPage);
  registerFindingForms(addPage);
}
