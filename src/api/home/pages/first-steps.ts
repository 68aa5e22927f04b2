import { create as createOrganization } from '#api/organizations/operations.ts';
import { create as createProject } from '#api/projects/operations.ts';
import { listAllRuns } from '#api/runs/lists/list-operations.ts';
import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readNames } from '#domain/tenancy/names.ts';

/** The start page hides the first steps once there are more runs than the sample of the first start creates. */
const maxRuns = 30;
const maxTeams = 3;

/** The first steps for an installation in which hardly anything has run. Null otherwise, and for visitors who may not set anything up. */
export async function renderFirstSteps(visit: Visit, scope: Query): Promise<Html | null> {
  const mayOrganize = visit.mayDo(createOrganization).allowed;
  const teams = await readTeamsToSetUp(visit);
  if (!mayOrganize && teams.length === 0) return null;
  const { runs, next_cursor: next } = await visit.read(listAllRuns, { query: { ...scope, limit: String(maxRuns) } });
  if (next !== null) return null;
  const isStarting = runs.length === 0 || runs.some(({ finished_at: end }) => end === null);
  return html`<section class="box" aria-labelledby="first-steps"><h2 id="first-steps">First steps</h2>
<div class="panel stack">${
    mayOrganize && isStarting
      ? html`<p>When the service starts for the first time, it makes a sample organization with templates and runs, unless that is turned off. This takes a minute or two, and its runs appear below.</p>`
      : null
  }<p>To deploy something of your own, set a team up. A guide leads through its people, a project, an environment, its approvals and a template.</p>
<ul>${teams.map(
    ({ id, orgID, name }) =>
      html`<li><a href="${pagePath(pages.setUpTeam, { orgID, id })}">Set up <span class="foreign">${name}</span></a></li>`,
  )}${mayOrganize ? html`<li><a href="${pagePath(pages.organizations)}">Choose an organization, or create one, and add a team to it</a></li>` : null}</ul></div></section>`;
}

/** The visitor's teams for which they may take every step of the guide. */
async function readTeamsToSetUp(visit: Visit) {
  const owned = (await readTeamsForNewInScope(visit)).filter((team) => visit.mayDo(createProject, team).allowed);
  const chosen = owned.slice(0, maxTeams);
  const names = await readNames(visit.em, { teams: chosen.map(({ teamId }) => teamId) });
  return chosen.flatMap(({ teamId: id, organizationId: orgID }) =>
    id && orgID ? [{ id, orgID, name: names.get(id)?.name ?? 'a team' }] : [],
  );
}
