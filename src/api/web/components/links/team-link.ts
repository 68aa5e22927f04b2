import { type Html, html } from '#api/web/html.ts';
import { findResourcePath } from '#api/web/resource-kinds.ts';
import type { Names } from '#domain/tenancy/names.ts';

/** The name of a team, as a link. `names` has the names that the page has read. */
export function renderTeamLink(id: string, names: Names): Html {
  const team = names.get(id);
  const path = findResourcePath('teams', { id, organizationId: team?.organizationId ?? null });
  const name = team?.name ?? id;
  return path ? html`<a class="foreign" href="${path}">${name}</a>` : html`<span class="foreign">${name}</span>`;
}
