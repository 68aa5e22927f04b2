import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as findings from './finding-operations.ts';
import * as monitors from './monitor-operations.ts';
import { showDrift } from './pages/drift-page.ts';
import { findingForms } from './pages/finding-forms.ts';
import { showFinding } from './pages/finding-page.ts';
import { streamMonitorChanges } from './pages/monitor-changes.ts';
import { monitorForms } from './pages/monitor-forms.ts';
import { showMonitor } from './pages/monitor-page.ts';
import * as remediation from './remediation-operations.ts';
import * as scans from './scan-operations.ts';

export const area: Area = {
  operations: [monitors, scans, findings, remediation],
  tags: {
    drift_monitors: 'Scanning instances for drift, by schedule or at once.',
    drift_findings: 'What differs from what was deployed: evidence, suppression, remediation.',
  },
  pages: [
    page('GET', pages.drift, showDrift),
    page('GET', pages.driftMonitor, showMonitor),
    page('GET', pages.driftMonitorChanges, streamMonitorChanges),
    page('GET', pages.driftFinding, showFinding),
    ...monitorForms,
    ...findingForms,
  ],
  navigation: [
    { group: 'Workloads', label: 'Drift', icon: 'activity', path: pages.drift, operation: 'drift_findings.list' },
  ],
};
