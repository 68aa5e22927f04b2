import { type Html, html } from '../html.ts';
import { pagePath, pages } from '../paths.ts';
import { renderIcon } from './icon.ts';

/** A link to the audit records of one thing. @param type the audit's type of resource, such as `projects` */
export function renderHistoryLink(type: string, id: string): Html {
  const path = pagePath(pages.audit, {}, { resource_type: type, resource_id: id });
  return html`<a class="button button-plain" href="${path}">${renderIcon('history')}History</a>`;
}
