import type { Feature } from '#domain/shared/features/feature.ts';

export const connectionsFeature = {
  title: 'Connections',
  operations: ['connections', 'project_connections', 'environment_connections'],
  searched: ['connection'],
} as const satisfies Feature;
