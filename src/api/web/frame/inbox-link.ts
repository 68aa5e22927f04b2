import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import { pagePath, pages } from '../paths.ts';

/** How many things wait for the visitor. `isMore`: there are more than were counted. */
export interface InboxCount {
  readonly count: number;
  readonly isMore: boolean;
}

/** The number as the bar shows it, and as screen readers announce it. A script updates both while the page is open. */
export function describeInbox({ count, isMore }: InboxCount) {
  return {
    count,
    shown: `${count}${isMore ? '+' : ''}`,
    said: count === 1 ? ' run waits for your approval' : ' runs wait for your approval',
  };
}

/** A link to the things that wait for the visitor. It is hidden if there are none. */
export function renderInboxLink(inbox: InboxCount): Html {
  const { count, shown, said } = describeInbox(inbox);
  return html`<a class="inbox-link" id="inbox" href="${pagePath(pages.approvals)}" data-count="${pagePath(pages.approvalCount)}" ${count === 0 ? html`hidden` : null}>${renderIcon('hand')}<span>${shown}</span><span class="unseen">${said}</span></a>`;
}

/** A link to the visitor's notifications, with the number of unread ones when the page was rendered. It is hidden if there are none. */
export function renderUnreadLink({ count, isMore }: InboxCount): Html {
  const said = count === 1 ? ' unread notification' : ' unread notifications';
  return html`<a class="inbox-link" href="${pagePath(pages.notifications)}" ${count === 0 ? html`hidden` : null}>${renderIcon('bell')}<span>${count}${isMore ? '+' : ''}</span><span class="unseen">${said}</span></a>`;
}
