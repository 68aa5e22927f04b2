import { bindingConfirmations } from '#api/tenancy/page-confirmations.ts';
import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  environments: '/environments',
  newEnvironment: '/environments/new',
  environment: '/environments/:id',
  editEnvironment: '/environments/:id/edit',
  archiveEnvironment: '/environments/:id/archive',
  unarchiveEnvironment: '/environments/:id/unarchive',
  deleteEnvironment: '/environments/:id/delete',
  environmentVariable: '/environments/:id/variables/:name',
  newEnvironmentVariable: '/environments/:id/new-variable',
  deleteEnvironmentVariable: '/environments/:id/variables/:name/delete',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.environments]: { deleted: 'Environment deleted.' },
  [pages.environment]: {
    created: 'Environment created.',
    saved: 'Changes saved.',
    locked: 'Environment locked. No apply starts in it.',
    unlocked: 'Environment unlocked. Applies that waited start now.',
    variable: 'Variable saved. New runs get it.',
    'variable-removed': 'Variable removed.',
    ...bindingConfirmations,
    archived: 'Environment archived.',
    unarchived: 'Environment unarchived.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  environments: {
    kind: 'environment',
    label: 'Environments',
    icon: 'layers',
    page: ({ id }) => toPath(pages.environment, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
