import type { Feature } from '#domain/shared/features/feature.ts';

export const webhooksFeature = {
  title: 'Webhooks',
  operations: ['webhooks'],
} as const satisfies Feature;
