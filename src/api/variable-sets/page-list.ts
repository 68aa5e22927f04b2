import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  variableSets: '/variable-sets',
  newVariableSet: '/variable-sets/new',
  variableSet: '/variable-sets/:id',
  editVariableSet: '/variable-sets/:id/edit',
  deleteVariableSet: '/variable-sets/:id/delete',
  attachVariableSet: '/variable-sets/:id/attachments',
  newVariableOfSet: '/variable-sets/:id/new-variable',
  variableOfSet: '/variable-sets/:id/variables/:name',
  deleteVariableOfSet: '/variable-sets/:id/variables/:name/delete',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.variableSets]: { deleted: 'Variable set deleted. Existing runs keep its variables.' },
  [pages.variableSet]: {
    created: 'Variable set created. Add its variables, and attach it to projects and environments.',
    saved: 'Changes saved.',
    variable: 'Variable saved. New runs get it wherever the set is attached.',
    'variable-removed': 'Variable removed.',
    attached: 'Attachments saved. New runs in these places get its variables.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  variable_sets: {
    kind: 'variable_set',
    label: 'Variable sets',
    icon: 'variable',
    page: ({ id }) => toPath(pages.variableSet, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
