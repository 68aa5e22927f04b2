import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as bindings from './binding-operations.ts';
import * as connections from './operations.ts';
import { registerConnectionPages } from './pages/register.ts';

export const area: Area = {
  operations: [connections, bindings],
  tags: {
    connections: 'Credentials for systems outside. They are never shown again.',
    project_connections: 'Which connections a project gives its runs.',
    environment_connections: 'Which connections an environment gives its runs.',
  },
  pages: [registerConnectionPages],
  navigation: [
    {
      group: 'Configuration',
      label: 'Connections',
      icon: 'key-round',
      path: pages.connections,
      operation: 'connections.list',
    },
  ],
};
