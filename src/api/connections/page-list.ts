import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  bindEnvironmentConnection: '/environments/:id/connections/bind',
  unbindEnvironmentConnection: '/environments/:id/connections/:name/unbind',
  bindProjectConnection: '/projects/:id/connections/bind',
  unbindProjectConnection: '/projects/:id/connections/:name/unbind',
  connections: '/admin/connections',
  newConnection: '/admin/connections/new',
  connection: '/admin/connections/:id',
  renameConnection: '/admin/connections/:id/rename',
  configureConnection: '/admin/connections/:id/settings',
  testConnection: '/admin/connections/:id/test',
  rotateConnection: '/admin/connections/:id/rotate',
  deleteConnection: '/admin/connections/:id/delete',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.connections]: { deleted: 'Connection deleted, with its credentials.' },
  [pages.connection]: {
    created: 'Connection created. Bind it to projects and environments whose runs need it.',
    saved: 'Changes saved.',
    rotated: 'Credentials replaced. New phases of runs use the new ones.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  connections: {
    kind: 'connection',
    label: 'Connections',
    icon: 'key-round',
    page: ({ id }) => toPath(pages.connection, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
