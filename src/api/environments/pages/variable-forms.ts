import { environmentCrumbs } from '#api/tenancy/pages/views.ts';
import { variableForms } from '#api/variables/pages/forms.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { get as getEnvironment } from '../operations.ts';
import { get, remove, set } from '../variable-operations.ts';
import type { Environment } from './labels.ts';

const path = ({ id }: Environment, done?: 'variable' | 'variable-removed') =>
  pagePath(pages.environment, { id }, { tab: 'variables', ...(done !== undefined && { done }) });

/** The forms that set and remove the variables of an environment. */
export const environmentVariableForms = variableForms<Environment>({
  patterns: {
    add: pages.newEnvironmentVariable,
    change: pages.environmentVariable,
    remove: pages.deleteEnvironmentVariable,
  },
  readHolder: (visit) => visit.read(getEnvironment, { params: { id: visit.params.id } }),
  readVariable: (visit, variable) => visit.read(get, variable),
  set: (visit, variable) => visit.run(set, variable),
  remove: (visit, variable) => visit.run(remove, variable),
  findRefusal: ({ actions }) => refusalOf(actions, 'update'),
  crumbs: (environment) => environmentCrumbs(environment, 'variables'),
  path,
});
