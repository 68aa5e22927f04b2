import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as projects from './operations.ts';
import { showProjects } from './pages/list-page.ts';
import { projectForms } from './pages/project-forms.ts';
import { showProject } from './pages/project-page.ts';

export const area: Area = {
  operations: [projects],
  tags: {
    projects: 'Groups of environments in a team.',
  },
  pages: [page('GET', pages.projects, showProjects), page('GET', pages.project, showProject), ...projectForms],
  navigation: [
    { group: 'Configuration', label: 'Projects', icon: 'folder', path: pages.projects, operation: 'projects.list' },
  ],
};
