import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import { pagePath, pages } from '../paths.ts';

/** How many things wait for the visitor, and whether they were counted no further. */
export interface InboxCount {
  readonly count: number;
  readonly isMore: boolean;
}

/** The number as the bar shows it, and as it is read out. A script replaces both while the page is open. */
export function describeInbox({ count, isMore }: InboxCount) {
  return {
    count,
    shown: `${count}${isMore ? '+' : ''}`,
    said: count === 1 ? ' run waits for your approval' : ' runs wait for your approval',
  };
}

/** A link to what waits for the visitor. It is hidden while nothing waits. */
export function renderInboxLink(inbox: InboxCount): Html {
  const { count, shown, said } = describeInbox(inbox);
  return html`<a class="inbox-link" id="inbox" href="${pagePath(pages.approvals)}" data-count="${pagePath(pages.approvalCount)}" ${count === 0 ? html`hidden` : null}>${renderIcon('hand')}<span>${shown}</span><span class="unseen">${said}</span></a>`;
}

/** A link to the visitor's notifications, with the number of unread ones as it was when the page was made. It is hidden while there are none. */
export function renderUnreadLink({ count, isMore }: InboxCount): Html {
  const said = count === 1 ? ' unread notification' : ' unread notifications';
  return html`<a class="inbox-link" href="${pagePath(pages.notifications)}" ${count === 0 ? html`hidden` : null}>${renderIcon('bell')}<span>${count}${isMore ? '+' : ''}</span><span class="unseen">${said}</span></a>`;
}
