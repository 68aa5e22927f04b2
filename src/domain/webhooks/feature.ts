import type { Feature } from '#domain/shared/features/feature.ts';

export const webhooksFeature = {
  title: 'Webhooks',
  operations: ['webhooks'],
  searched: ['webhook'],
} as const satisfies Feature;
