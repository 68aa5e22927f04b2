import { proxyActivities } from '@temporalio/workflow';
import type { PluginRestorationActivities } from '#activities/plugin-restorations.contract.ts';
import type { PluginRestorationInput } from './plugin-restoration.contract.ts';

const { checkPluginRestoration, checkPluginRoots, commitPluginRestoration } =
  proxyActivities<PluginRestorationActivities>({
    startToCloseTimeout: '60s',
    retry: { initialInterval: '200ms', maximumInterval: '10s' },
  });

/** Restores a resource of a plugin. Each step finds in the database whether there is something left to do. */
export async function pluginRestoration({ restoration_id: id }: PluginRestorationInput): Promise<void> {
  if (!(await checkPluginRestoration(id))) return;
  if (!(await checkPluginRoots(id))) return;
  await commitPluginRestoration(id);
}
