import type { ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  plugins: '/admin/plugins',
  plugin: '/admin/plugins/:id',
  pluginResource: '/admin/plugin-resources/:id',
} as const satisfies Record<string, LocalPath>;

export const kinds = {
  plugin_installations: {
    kind: 'plugin_installation',
    label: 'Plugins',
    icon: 'terminal',
    page: ({ id }) => toPath(pages.plugin, { id }),
  },
  plugin_resources: {
    kind: 'plugin_resource',
    label: 'Resources of plugins',
    icon: 'boxes',
    page: ({ id }) => toPath(pages.pluginResource, { id }),
  },
} as const satisfies Record<string, ResourceKind>;
