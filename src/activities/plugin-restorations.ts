import {
  checkRestoration,
  checkRoots,
  commitRestoration,
  type RestorationDeps,
} from '#domain/plugins/restorations/steps.ts';
import type { PluginRestorationActivities } from './plugin-restorations.contract.ts';

export function createPluginRestorationActivities(deps: RestorationDeps): PluginRestorationActivities {
  return {
    checkPluginRestoration: (id) => checkRestoration(deps, id),
    checkPluginRoots: (id) => checkRoots(deps, id),
    commitPluginRestoration: (id) => commitRestoration(deps, id),
  };
}
