import type { Feature } from '#domain/shared/features/feature.ts';

export const driftFeature = {
  title: 'Drift detection',
  operations: ['drift_monitors', 'drift_findings'],
  searched: ['drift_monitor'],
} as const satisfies Feature;
