import type { Area } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as projects from './operations.ts';
import { registerProjectPages } from './pages/register.ts';

export const area: Area = {
  operations: [projects],
  tags: {
    projects: 'Groups of environments in a team.',
  },
  pages: [registerProjectPages],
  navigation: [
    { group: 'Configuration', label: 'Projects', icon: 'folder', path: pages.projects, operation: 'projects.list' },
  ],
};
