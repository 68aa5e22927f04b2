import type { z } from 'zod';
import type { Crumb } from '#api/web/components/page-head.ts';
import { renderTeamLink } from '#api/web/components/team-link.ts';
import { type Html, html } from '#api/web/html.ts';
import type { NewsOf } from '#api/web/news.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names-store.ts';
import { get } from '../operations.ts';
import type { ListedVariableSetView, VariableSetView } from '../views.ts';

export type ListedSet = z.input<typeof ListedVariableSetView>;
export type ShownSet = z.input<typeof VariableSetView>;
export type SetVisit = Visit<{ id: string }>;
type OwnedSet = Pick<ListedSet, 'organization_id' | 'team_id' | 'project_id'>;

export function readSet(visit: SetVisit): Promise<ShownSet> {
  return visit.read(get, { params: { id: visit.params.id } });
}

export function setPath({ id }: { readonly id: string }, done?: NewsOf<typeof pages.variableSet>): LocalPath {
  return pagePath(pages.variableSet, { id }, { done });
}

export const setsCrumb: Crumb = { label: 'Variable sets', path: pagePath(pages.variableSets) };

export function setCrumbs(set: ShownSet): Crumb[] {
  return [setsCrumb, { label: set.name, path: setPath(set) }];
}

/** The names of the owners of sets. */
export function readOwnerNames({ em }: Visit, sets: readonly OwnedSet[]): Promise<Names> {
  return readNames(em, {
    organizations: sets.map(({ organization_id: id }) => id),
    teams: sets.map(({ team_id: id }) => id),
    projects: sets.map(({ project_id: id }) => id),
  });
}

/** Who owns a set: a project, a team or an organization. */
export function renderOwner({ organization_id: organizationId, team_id, project_id }: OwnedSet, names: Names): Html {
  if (project_id !== null)
    return html`project <a class="foreign" href="${pagePath(pages.project, { id: project_id })}">${names.get(project_id)?.name ?? project_id}</a>`;
  if (team_id !== null) return html`team ${renderTeamLink(team_id, names)}`;
  const orgID = organizationId ?? '';
  return html`organization <a class="foreign" href="${pagePath(pages.organization, { orgID })}">${names.get(orgID)?.name ?? orgID}</a>`;
}

/** The page of a project or an environment that a set is attached to. */
export function placePath({ type, id }: { readonly type: 'project' | 'environment'; readonly id: string }): LocalPath {
  return type === 'project'
    ? pagePath(pages.project, { id })
    : pagePath(pages.environment, { id }, { tab: 'variables' });
}
