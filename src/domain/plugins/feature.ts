import type { Feature } from '#domain/shared/features/feature.ts';

export const pluginsFeature = {
  title: 'Plugins',
  operations: [
    'plugin_installations',
    'plugin_actions',
    'plugin_action_grants',
    'plugin_background_principals',
    'plugin_resources',
  ],
  searched: ['plugin_installation', 'plugin_resource'],
} as const satisfies Feature;
