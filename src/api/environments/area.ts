import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as environments from './operations.ts';
import { environmentForms } from './pages/edit.ts';
import { showEnvironment } from './pages/environment.ts';
import { environmentLifecycleForms } from './pages/lifecycle.ts';
import { showEnvironments } from './pages/list.ts';
import { environmentVariableForms } from './pages/variable-forms.ts';
import * as variables from './variable-operations.ts';

export const area: Area = {
  operations: [environments, variables],
  tags: {
    environments: 'Where runs happen: approval policy, lifetime, isolation, lock and freeze windows.',
    environment_variables: 'Variables and secrets that runs in an environment get.',
  },
  pages: [
    page('GET', pages.environments, showEnvironments),
    ...environmentForms,
    page('GET', pages.environment, showEnvironment),
    ...environmentLifecycleForms,
    ...environmentVariableForms,
  ],
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
