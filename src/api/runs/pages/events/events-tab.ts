import { renderIcon } from '#api/web/components/icon.ts';
import { renderPager } from '#api/web/components/table.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { getEvents } from '../../log-operations.ts';
import type { ShownEvent } from '../run/timeline.ts';
import { type RunTab, runTabPath } from '../run-tab.ts';
import { describeEvent } from './event-words.ts';

/** What happened to a run, in order. */
export const eventsTab: RunTab = {
  key: 'events',
  label: 'Events',
  async render(visit, { id }) {
    const cursor = visit.query('cursor');
    const {
      events,
      next_cursor: next,
      removed_before: removed,
    } = await visit.read(getEvents, {
      params: { id },
      query: { limit: '100', ...(cursor && { cursor }) },
    });
    const pager = renderPager({
      first: cursor ? runTabPath(id, 'events') : null,
      next: next === null ? null : pagePath(pages.run, { id }, { tab: 'events', cursor: next }),
    });
    const note =
      removed &&
      html`<div class="notice"><p>Events from before ${renderTime(removed)} were removed because their retention period ended.</p></div>`;
    return html`${note}<ol class="talk">${events.map(renderEvent)}</ol>${pager}`;
  },
};

function renderEvent(event: ShownEvent): Html {
  const { icon, text, said } = describeEvent(event);
  return html`<li class="talk-entry" id="event-${event.sequence}">${renderIcon(icon)}<div>
<p>${text} <span class="muted">${renderTime(event.at)}</span></p>
${said ? html`<p class="foreign talk-text">${said}</p>` : null}</div></li>`;
}
