import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';
import { renderHistoryLink } from './links/history-link.ts';

export interface Crumb {
  readonly label: string;
  readonly path: LocalPath;
}

export interface PageHead {
  readonly title: string;
  /** The pages above this one. */
  readonly crumbs?: readonly Crumb[];
  /** Content beside the title, such as a status. */
  readonly beside?: Html | null;
  /** A line below the title. */
  readonly below?: Html | string | null;
  readonly actions?: Html | null;
  /** The resource whose audit records the head links to: the audit's type of resource, such as `projects`, and the id. */
  readonly history?: readonly [type: string, id: string] | null;
}

/** The head of a page: its place in the hierarchy, its title, and buttons for actions. */
export function renderPageHead({ title, crumbs = [], beside, below, actions, history }: PageHead): Html {
  return html`<header class="page-head">
<div class="page-title">
${
  crumbs.length > 0
    ? html`<nav class="crumbs" aria-label="Breadcrumbs"><ol>${crumbs.map(({ label, path }) => html`<li><a href="${path}">${label}</a></li>`)}</ol></nav>`
    : null
}
<div class="title-line"><h1>${title}</h1>${beside}</div>
${below ? html`<p class="muted">${below}</p>` : null}
</div>
${history ? html`<div class="actions">${actions}${renderHistoryLink(...history)}</div>` : actions}
</header>`;
}
