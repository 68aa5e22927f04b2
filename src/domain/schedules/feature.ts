import type { Feature } from '#domain/shared/features/feature.ts';

export const schedulesFeature = {
  title: 'Schedules',
  operations: ['schedules'],
  searched: ['schedule'],
} as const satisfies Feature;
