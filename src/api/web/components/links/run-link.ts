import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';

/** A link to a run whose name the page does not know. It shows the end of the id, which differs between runs of the same second. */
export function renderRunLink(id: string): Html {
  return html`<a href="${pagePath(pages.run, { id })}">run …${id.slice(-6)}</a>`;
}
