import { showLevelSettings, submitLevelSettings } from '#api/tenancy/pages/levels/settings-page.ts';
import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { registerTeamForms } from './team-forms.ts';
import { teamLevel } from './team-frame.ts';
import { showTeamProjects } from './team-page.ts';

/** Adds the pages of teams. Those of members and invitations belong to their own areas. */
export function registerTeamPages(addPage: AddPage): void {
  addPage('GET', pages.team, showTeamProjects);
  addPage('GET', pages.editTeam, (visit) => showLevelSettings(teamLevel, visit));
  addPage('POST', pages.editTeam, (visit) => submitLevelSettings(teamLevel, visit));
  registerTeamForms(addPage);
}
