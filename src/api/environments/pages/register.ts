import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerEnvironmentForms } from './edit.ts';
import { showEnvironment } from './environment.ts';
import { registerEnvironmentLifecycle } from './lifecycle.ts';
import { showEnvironments } from './list.ts';
import { registerVariableForms } from './variable-forms.ts';

/** Adds the pages of environments and their variables. */
export function registerEnvironmentPages(addPage: AddPage): void {
  addPage('GET', pages.environments, showEnvironments);
  registerEnvironmentForms(addPage);
  addPage('GET', pages.environment, showEnvironment);
  registerEnvironmentLifecycle(addPage);
  registerVariableForms(addPage);
}
