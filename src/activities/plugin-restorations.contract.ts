/** The steps of a restoration. Each returns whether the next one is to follow. */
export interface PluginRestorationActivities {
  checkPluginRestoration(id: string): Promise<boolean>;
  checkPluginRoots(id: string): Promise<boolean>;
  commitPluginRestoration(id: string): Promise<boolean>;
}
