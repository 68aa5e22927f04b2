import type { Feature } from '#domain/shared/features/feature.ts';

export const schedulesFeature = { title: 'Schedules', operations: ['schedules'] } as const satisfies Feature;
