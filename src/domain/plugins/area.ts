import { pluginInstallationCandidates, pluginResourceCandidates } from './candidates-store.ts';
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
import { pluginsFeature } from './feature.ts';
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
export const features = { plugins: pluginsFeature };

export const errorCodes = {
  ownership_changed: 'What owns the thing is not what the request names.',
  plugin_release_unknown: 'The installation knows no such release, or none is active.',
  plugin_release_differs: 'The release is known with another digest.',
  plugin_manifest_missing: 'Only the digest of the active release is known, and its manifest was not staged.',
  plugin_action_not_declared: 'The active release does not declare the action.',
  plugin_action_not_approved: 'The ceiling of the installation does not approve the action.',
  plugin_assigned_already: 'The action is assigned to this principal in this scope already.',
  plugin_assignment_revoked: 'The assignment or the background principal is revoked already.',
  plugin_removed: 'The plugin was removed.',
  plugin_resource_deleted: 'The resource is deleted already.',
  plugin_resource_not_deleted: 'Only a deleted resource can be restored.',
  plugin_parent_changed: 'The resource belonged to others when it was deleted.',
  plugin_declaration_changed: 'The active release does not declare the type of the resource as it was.',
  plugin_root_missing: 'A row on which the resource depends does not exist.',
} as const;
export const searched = {
  plugin_installation: pluginInstallationCandidates,
  plugin_resource: pluginResourceCandidates,
};
export const named = { plugin_resources: {} };
