import { proxyLocalActivities } from '@temporalio/workflow';
import type { PluginRestorationActivities } from '#activities/plugin-restorations.contract.ts';
import type { PluginRestorationInput } from './plugin-restoration.contract.ts';

// If a worker dies, another one repeats its local activity within seconds.
const { checkPluginRestoration, checkPluginRoots, commitPluginRestoration } =
  proxyLocalActivities<PluginRestorationActivities>({
    startToCloseTimeout: '60s',
    localRetryThreshold: '1 minute',
    retry: { initialInterval: '200ms', maximumInterval: '10s' },
  });

/** Restores a resource of a plugin. Each step reads in the database whether there is something left to do. */
export async function pluginRestoration({ restoration_id: id }: PluginRestorationInput): Promise<void> {
  if (!(await checkPluginRestoration(id))) return;
  if (!(await checkPluginRoots(id))) return;
  await commitPluginRestoration(id);
}
