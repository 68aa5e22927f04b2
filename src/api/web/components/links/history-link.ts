import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { renderIcon } from '../icon.ts';

/** A link to the audit records of one thing. @param type the audit's type of resource, such as `projects` */
export function renderHistoryLink(type: string, id: string): Html {
  return renderFilteredHistory({ resource_type: type, resource_id: id });
}

/** A link to the audit records that match these filters. */
export function renderFilteredHistory(filters: Query): Html {
  return html`<a class="button button-plain" href="${pagePath(pages.audit, {}, filters)}">${renderIcon('history')}History</a>`;
}
