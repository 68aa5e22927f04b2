import { renderTeamLink } from '#api/web/components/links/resource-links.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';

/** The owner of something, as `viewOwner` returns it. */
export interface ShownOwner {
  readonly organization_id: string | null;
  readonly team_id: string | null;
  readonly project_id: string | null;
}

/** The names of owners. */
export function readOwnerNames({ em }: Visit<unknown>, owned: readonly ShownOwner[]): Promise<Names> {
  return readNames(em, {
    organizations: owned.map(({ organization_id: id }) => id),
    teams: owned.map(({ team_id: id }) => id),
    projects: owned.map(({ project_id: id }) => id),
  });
}

/** The owner of something: a project, a team, an organization or the installation. */
export function renderOwner({ organization_id: orgID, team_id, project_id }: ShownOwner, names: Names): Html {
  if (project_id !== null)
    return html`project <a class="foreign" href="${pagePath(pages.project, { id: project_id })}">${names.get(project_id)?.name ?? project_id}</a>`;
  if (team_id !== null) return html`team ${renderTeamLink(team_id, names)}`;
  if (orgID === null) return html`the installation`;
  return html`organization <a class="foreign" href="${pagePath(pages.organization, { orgID })}">${names.get(orgID)?.name ?? orgID}</a>`;
}
