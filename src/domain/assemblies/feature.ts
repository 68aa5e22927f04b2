import type { Feature } from '#domain/shared/features/feature.ts';

export const assembliesFeature = {
  title: 'Assemblies',
  operations: ['assemblies'],
  searched: ['assembly'],
} as const satisfies Feature;
