import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as findings from './finding-operations.ts';
import * as monitors from './monitor-operations.ts';
import { registerDriftPages } from './pages/register.ts';
import * as remediation from './remediation-operations.ts';
import * as scans from './scan-operations.ts';

export const area: Area = {
  operations: [monitors, scans, findings, remediation],
  tags: {
    drift_monitors: 'Scanning instances for drift, by schedule or at once.',
    drift_findings: 'What differs from what was deployed: evidence, suppression, remediation.',
  },
  pages: [registerDriftPages],
  navigation: [
    { group: 'Workloads', label: 'Drift', icon: 'activity', path: pages.drift, operation: 'drift_findings.list' },
  ],
};
