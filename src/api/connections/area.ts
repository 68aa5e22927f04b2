import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as bindings from './binding-operations.ts';
import * as connections from './operations.ts';
import { bindingForms } from './pages/binding-forms.ts';
import { showConnection } from './pages/connection-page.ts';
import { connectionForms } from './pages/forms.ts';
import { showConnections } from './pages/list-page.ts';
import { connectionTestForm } from './pages/test-form.ts';

export const area: Area = {
  operations: [connections, bindings],
  tags: {
    connections: 'Credentials for systems outside. They are never shown again.',
    project_connections: 'Which connections a project gives its runs.',
    environment_connections: 'Which connections an environment gives its runs.',
  },
  pages: [
    page('GET', pages.connections, showConnections),
    ...connectionForms,
    page('GET', pages.connection, showConnection),
    connectionTestForm,
    ...bindingForms,
  ],
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
