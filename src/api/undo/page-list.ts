import type { ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  undoRun: '/workloads/runs/:id/undo',
  selectiveUndo: '/selective-undo/:id',
  planUndo: '/selective-undo/:id/plan',
  promoteUndo: '/selective-undo/:id/promote',
} as const satisfies Record<string, LocalPath>;

export const kinds = {
  selective_undo: {
    kind: 'undo',
    label: 'Undone runs',
    icon: 'undo-2',
    page: ({ id }) => toPath(pages.selectiveUndo, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
