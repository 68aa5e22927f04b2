import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  drift: '/drift',
  newDriftMonitor: '/drift/monitors/new',
  driftMonitor: '/drift/monitors/:id',
  driftMonitorChanges: '/drift/monitors/:id/stream',
  editDriftMonitor: '/drift/monitors/:id/edit',
  deleteDriftMonitor: '/drift/monitors/:id/delete',
  scanForDrift: '/drift/monitors/:id/scan',
  driftIgnoreRules: '/drift/monitors/:id/ignore-rules',
  suppressDriftFindings: '/drift/findings/suppress',
  driftFinding: '/drift/findings/:id',
  suppressDriftFinding: '/drift/findings/:id/suppress',
  reopenDriftFinding: '/drift/findings/:id/reopen',
  remedyDriftFinding: '/drift/findings/:id/remediation',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.drift]: {
    deleted: 'Monitor deleted. The runs of its scans are kept.',
    suppressed: 'Findings suppressed.',
  },
  [pages.driftMonitor]: {
    created: 'Monitor created. The time of its next scan is below.',
    created_unscannable: 'Monitor created. It scans nothing yet: why its instance cannot be scanned is below.',
    saved: 'Changes saved.',
    scanning: 'Scan requested.',
  },
  [pages.driftFinding]: {
    suppressed: 'Finding suppressed.',
    reopened: 'Finding reopened.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  drift_monitors: {
    kind: 'drift_monitor',
    label: 'Drift monitors',
    icon: 'activity',
    page: ({ id }) => toPath(pages.driftMonitor, { id }),
  },
  drift_findings: {
    kind: 'drift_finding',
    label: 'Drift findings',
    icon: 'activity',
    page: ({ id }) => toPath(pages.driftFinding, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
