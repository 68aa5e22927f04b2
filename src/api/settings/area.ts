import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as settings from './operations.ts';
import { settingsPages } from './pages/register.ts';

export const area: Area = {
  operations: [settings],
  tags: {
    settings: 'The settings of the installation: defaults, retention, and which areas are on.',
  },
  pages: [...settingsPages],
  navigation: [
    {
      group: 'Administration',
      label: 'Settings',
      icon: 'list-checks',
      path: pages.settings,
      operation: 'settings.get',
    },
  ],
};
