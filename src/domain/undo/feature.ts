import type { Feature } from '#domain/shared/features/feature.ts';

export const selectiveUndoFeature = {
  title: 'Selective undo',
  operations: ['selective_undo', 'runs.list_selective_undo', 'runs.check_selective_undo'],
} as const satisfies Feature;
