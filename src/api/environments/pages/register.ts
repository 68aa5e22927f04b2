import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showEditEnvironment, showNewEnvironment, submitEditEnvironment, submitNewEnvironment } from './edit.ts';
import { showEnvironment } from './environment.ts';
import { confirmArchiving, confirmDeletion, submitArchiving, submitDeletion, submitUnarchiving } from './lifecycle.ts';
import { showEnvironments } from './list.ts';
import {
  confirmVariableRemoval,
  showNewVariable,
  showVariable,
  submitVariable,
  submitVariableRemoval,
} from './variable-form.ts';

/** Adds the pages of environments and their variables. */
export function registerEnvironmentPages(addPage: AddPage): void {
  addPage('GET', pages.environments, showEnvironments);
  addPage('GET', pages.newEnvironment, showNewEnvironment);
  addPage('POST', pages.newEnvironment, submitNewEnvironment);
  addPage('GET', pages.environment, showEnvironment);
  addPage('GET', pages.editEnvironment, showEditEnvironment);
  addPage('POST', pages.editEnvironment, submitEditEnvironment);
  addPage('GET', pages.archiveEnvironment, confirmArchiving);
  addPage('POST', pages.archiveEnvironment, submitArchiving);
  addPage('POST', pages.unarchiveEnvironment, submitUnarchiving);
  addPage('GET', pages.deleteEnvironment, confirmDeletion);
  addPage('POST', pages.deleteEnvironment, submitDeletion);
  addPage('GET', pages.newEnvironmentVariable, showNewVariable);
  addPage('POST', pages.newEnvironmentVariable, submitVariable);
  addPage('GET', pages.environmentVariable, showVariable);
  addPage('POST', pages.environmentVariable, submitVariable);
  addPage('GET', pages.deleteEnvironmentVariable, confirmVariableRemoval);
  addPage('POST', pages.deleteEnvironmentVariable, submitVariableRemoval);
}
