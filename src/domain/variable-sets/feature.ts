import type { Feature } from '#domain/shared/features/feature.ts';

export const variableSetsFeature = {
  title: 'Variable sets',
  operations: ['variable_sets', 'variable_set_variables', 'variable_set_attachments'],
  searched: ['variable_set'],
} as const satisfies Feature;
