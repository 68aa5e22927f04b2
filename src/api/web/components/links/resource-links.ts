import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { findResourcePath } from '#api/web/resource-kinds.ts';
import type { Named, Names } from '#domain/tenancy/names.ts';

/** A link to a run whose name the page does not know. It shows the end of the id, which differs between runs of the same second. */
export function renderRunLink(id: string): Html {
  return html`<a href="${pagePath(pages.run, { id })}">run …${id.slice(-6)}</a>`;
}

/** The name of a team, as a link. `names` has the names that the page has read. */
export function renderTeamLink(id: string, names: Names): Html {
  const team = names.get(id);
  const path = findResourcePath('teams', { id, organizationId: team?.organizationId ?? null });
  const name = team?.name ?? id;
  return path ? html`<a class="foreign" href="${path}">${name}</a>` : html`<span class="foreign">${name}</span>`;
}

/** The name of a thing on pages. Instances in several environments often share a name, so that of an instance includes its environment. */
export function placedName({ name, environment }: Pick<Named, 'name' | 'environment'>): string {
  return environment === null ? name : `${name} in ${environment}`;
}

/** A link to an instance, with the environment beside it. */
export function renderInstanceLink(id: string, names: Names): Html {
  const { name = id, environment = null } = names.get(id) ?? {};
  const where =
    environment === null ? null : html` <span class="muted">in <span class="foreign">${environment}</span></span>`;
  return html`<span><a class="foreign" href="${pagePath(pages.instance, { id })}">${name}</a>${where}</span>`;
}
