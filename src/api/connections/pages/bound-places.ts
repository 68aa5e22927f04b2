import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { formatCount, pluralize } from '#api/web/text.ts';
import { type BoundPlace, findBoundPlaces } from '#domain/connections/bindings/bound-places-store.ts';
import { readableTeams } from '#domain/shared/access/decide.ts';
import type { ConnectionVisit, ShownConnection } from './labels.ts';

/** How many projects and environments a page lists. */
const maxNamed = 10;

/**
 * The projects and environments that bind a connection, as links. Visitors who may delete the connection, and would take it from all of
 * them, also see how many they may not read. Other visitors do not.
 */
export async function renderBoundPlaces(visit: ConnectionVisit, { id, actions }: ShownConnection): Promise<Html> {
  const bound = await findBoundPlaces(visit.em, visit.principal, { connectionId: id, max: maxNamed });
  const mayDelete = actions.some(({ name, allowed }) => name === 'delete' && allowed);
  const knowsAll = mayDelete || readableTeams(visit.principal) === 'all';
  const unreadable = knowsAll ? bound.unreadable : 0;
  if (bound.readable + unreadable === 0) return html`${knowsAll ? 'nothing yet' : 'nothing that you can see'}`;
  const more = bound.readable - bound.places.length;
  return html`<ul class="plain-list" role="list">${bound.places.map((place) => html`<li>${renderBoundPlace(place)}</li>`)}${
    more > 0 ? html`<li class="muted">and ${formatCount(more)} more</li>` : null
  }${unreadable > 0 ? html`<li class="muted">${describeUnreadable(unreadable)}</li>` : null}</ul>`;
}

function renderBoundPlace({ id, kind, name, project }: BoundPlace): Html {
  if (kind === 'project') return html`project <a class="foreign" href="${pagePath(pages.project, { id })}">${name}</a>`;
  return html`environment <a class="foreign" href="${pagePath(pages.environment, { id })}">${project} / ${name}</a>`;
}

function describeUnreadable(count: number): string {
  return `${pluralize(count, 'project or environment', 'projects and environments')} that you may not read`;
}
