import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showPlugins } from './list-page.ts';
import { showPlugin } from './plugin-page.ts';
import { showPluginResource } from './resource-page.ts';

/** Adds the pages of plugins. They change nothing. */
export function registerPluginPages(addPage: AddPage): void {
  addPage('GET', pages.plugins, showPlugins);
  addPage('GET', pages.plugin, showPlugin);
  addPage('GET', pages.pluginResource, showPluginResource);
}
