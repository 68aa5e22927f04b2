import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerDestruction } from './destroy.ts';
import { registerFollow } from './follow.ts';
import { registerInstanceForms } from './forms.ts';
import { showInstance } from './instance.ts';
import { showInstances, showResources } from './lists.ts';
import { registerReaders } from './sharing.ts';
import { registerStateImport } from './state-import.ts';
import { showComparison, showStateVersion } from './states.ts';
import { registerToolSwitch } from './tool-switch.ts';

/** Adds the pages of instances, of what they hold, and of their states. */
export function registerInstancePages(addPage: AddPage): void {
  addPage('GET', pages.instances, showInstances);
  addPage('GET', pages.resources, showResources);
  registerInstanceForms(addPage);
  registerDestruction(addPage);
  addPage('GET', pages.instance, showInstance);
  addPage('GET', pages.stateVersion, showStateVersion);
  addPage('GET', pages.compareStates, showComparison);
  registerStateImport(addPage);
  registerToolSwitch(addPage);
  registerReaders(addPage);
  registerFollow(addPage);
}
