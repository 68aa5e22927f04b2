import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath, withQuery } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  resources: '/workloads/resources',
  instances: '/workloads/instances',
  newInstance: '/workloads/instances/new',
  instance: '/workloads/instances/:id',
  unlockInstance: '/workloads/instances/:id/unlock',
  switchTool: '/workloads/instances/:id/tool',
  importState: '/workloads/instances/:id/state',
  forgetState: '/workloads/instances/:id/forget-state',
  instanceReaders: '/workloads/instances/:id/readers',
  instanceFollow: '/workloads/instances/:id/follow',
  destroyInstance: '/workloads/instances/:id/destroy',
  deleteInstance: '/workloads/instances/:id/delete',
  stateVersion: '/workloads/instances/:id/state-versions/:serial',
  compareStates: '/workloads/instances/:id/compare',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.instance]: {
    created: 'Instance created. You can now import a state.',
    imported: 'State imported. The next run continues from it.',
    unlocked: 'Instance unlocked.',
    forgotten: 'Import undone. Nothing was destroyed.',
    'follow-saved': 'Changes saved.',
    'readers-saved': 'Access to the outputs saved.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  instances: {
    kind: 'instance',
    label: 'Instances',
    icon: 'boxes',
    page: ({ id }) => toPath(pages.instance, { id }),
  },
  resources: {
    kind: 'resource',
    label: 'Resources',
    icon: 'boxes',
    page: ({ parentId: id }) => id && withQuery(toPath(pages.instance, { id }), { tab: 'resources' }),
  },
} as const satisfies Record<string, ResourceKind>;
