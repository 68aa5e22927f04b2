import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showProjects } from './list-page.ts';
import { registerProjectForms } from './project-forms.ts';
import { showProject } from './project-page.ts';

/** Adds the pages of projects. */
export function registerProjectPages(addPage: AddPage): void {
  addPage('GET', pages.projects, showProjects);
  addPage('GET', pages.project, showProject);
  registerProjectForms(addPage);
}
