import { list as listEnvironments } from '#api/environments/operations.ts';
import { create as createProject, list as listProjects } from '#api/projects/operations.ts';
import { list as listTemplates } from '#api/registry/template-operations.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type TeamSubject, teamParams } from './team-frame.ts';

/** Links from the pages of a team's set-up back to its guide. Null once the team has a project, an environment and a template. */
export async function renderSetupLink(visit: Visit, team: TeamSubject): Promise<Html | null> {
  const owner = { teamId: team.id, organizationId: team.organization_id };
  if (!visit.mayDo(createProject, owner).allowed) return null;
  const query = { team_id: team.id, limit: '1' };
  const [{ projects }, { environments }, { templates }] = await Promise.all([
    visit.read(listProjects, { query }),
    visit.read(listEnvironments, { query }),
    visit.read(listTemplates, { query }),
  ]);
  if (projects.length > 0 && environments.length > 0 && templates.length > 0) return null;
  return html`<p class="notice"><span>The team is not set up yet. <a href="${pagePath(pages.setUpTeam, teamParams(team))}">Continue to set up <span class="foreign">${team.name}</span></a></span></p>`;
}
