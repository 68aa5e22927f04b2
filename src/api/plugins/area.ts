import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as actions from './action-operations.ts';
import * as background from './background-operations.ts';
import * as ceilings from './ceiling-operations.ts';
import * as grants from './grant-operations.ts';
import * as installations from './installation-operations.ts';
import { showPlugins } from './pages/list-page.ts';
import { showPlugin } from './pages/plugin-page.ts';
import { showPluginResource } from './pages/resource-page.ts';
import * as releases from './release-operations.ts';
import * as resources from './resource-operations.ts';

export const area: Area = {
  operations: [installations, releases, ceilings, actions, grants, background, resources],
  tags: {
    'Plugin Permissions':
      'What plugins declare, what is approved of them, who may use their actions where, and their resources.',
  },
  pages: [
    page('GET', pages.plugins, showPlugins),
    page('GET', pages.plugin, showPlugin),
    page('GET', pages.pluginResource, showPluginResource),
  ],
  navigation: [
    {
      group: 'Integrations',
      label: 'Plugins',
      icon: 'terminal',
      path: pages.plugins,
      also: '/admin/plugin-resources',
      operation: 'plugin_installations.list',
    },
  ],
};
