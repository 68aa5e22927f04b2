import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as environments from './operations.ts';
import { registerEnvironmentPages } from './pages/register.ts';
import * as variables from './variable-operations.ts';

export const area: Area = {
  operations: [environments, variables],
  tags: {
    environments: 'Where runs happen: approval policy, lifetime, isolation, lock and freeze windows.',
    environment_variables: 'Variables and secrets that runs in an environment get.',
  },
  pages: [registerEnvironmentPages],
  navigation: [
    {
      group: 'Configuration',
      label: 'Environments',
      icon: 'layers',
      path: pages.environments,
      operation: 'environments.list',
    },
  ],
};
