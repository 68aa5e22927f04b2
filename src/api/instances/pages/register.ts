import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import {
  confirmDeletion,
  confirmUnlocking,
  showNewInstance,
  submitDeletion,
  submitNewInstance,
  submitUnlocking,
} from './forms.ts';
import { showInstance } from './instance.ts';
import { showInstances, showResources } from './lists.ts';
import { showStateImport, submitForgetting } from './state-import.ts';
import { showComparison, showStateVersion } from './states.ts';

/** Adds the pages of instances, of what they hold, and of their states. */
export function registerInstancePages(addPage: AddPage): void {
  addPage('GET', pages.instances, showInstances);
  addPage('GET', pages.resources, showResources);
  addPage('GET', pages.newInstance, showNewInstance);
  addPage('POST', pages.newInstance, submitNewInstance);
  addPage('GET', pages.instance, showInstance);
  addPage('GET', pages.stateVersion, showStateVersion);
  addPage('GET', pages.compareStates, showComparison);
  addPage('GET', pages.importState, showStateImport);
  addPage('POST', pages.importState, submitForgetting);
  addPage('GET', pages.unlockInstance, confirmUnlocking);
  addPage('POST', pages.unlockInstance, submitUnlocking);
  addPage('GET', pages.deleteInstance, confirmDeletion);
  addPage('POST', pages.deleteInstance, submitDeletion);
}
