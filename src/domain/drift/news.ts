import type { KindsOfNews } from '#domain/shared/vocabulary/kind-of-news.ts';

/** The notifications about drift. */
export const driftNews = {
  'drift_monitor.drifted': {
    label: 'Drift found',
    toUsers: 'A scan found drift in one of your teams.',
    toChannels: 'A scan found drift.',
    subject: 'drift_monitor',
  },
  'drift_monitor.scan_failed': {
    label: 'Scan failed',
    toUsers: 'A scan failed in one of your teams.',
    toChannels: 'A scan failed.',
    subject: 'drift_monitor',
  },
  'drift_finding.suppression_ending': {
    label: 'Suppression ends',
    toUsers: 'A suppression of drift in one of your teams ends within a day.',
    toChannels: 'A suppression of drift ends within a day.',
    subject: 'drift_finding',
    asksToAct: true,
  },
} as const satisfies KindsOfNews;
