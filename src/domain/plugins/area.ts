import {
  PluginActionGrantSchema,
  PluginActionSchema,
  PluginBackgroundPrincipalSchema,
  PluginCeilingSchema,
  PluginInstallationSchema,
  PluginReleaseSchema,
  PluginResourceSchema,
  PluginRestorationSchema,
} from './entity.ts';
import { pluginKinds } from './ownership.ts';

export const entities = [
  PluginInstallationSchema,
  PluginReleaseSchema,
  PluginActionSchema,
  PluginCeilingSchema,
  PluginBackgroundPrincipalSchema,
  PluginActionGrantSchema,
  PluginResourceSchema,
  PluginRestorationSchema,
] as const;
export const ownership = pluginKinds;
