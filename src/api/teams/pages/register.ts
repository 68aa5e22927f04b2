import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerTeamForms } from './team-forms.ts';
import { showTeamProjects, showTeamSettings, submitTeamSettings } from './team-page.ts';

/** Adds the pages of teams. Those of members and invitations belong to their own areas. */
export function registerTeamPages(addPage: AddPage): void {
  addPage('GET', pages.team, showTeamProjects);
  addPage('GET', pages.editTeam, showTeamSettings);
  addPage('POST', pages.editTeam, submitTeamSettings);
  registerTeamForms(addPage);
}
