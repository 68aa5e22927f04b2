import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import { pagePath, pages } from '../paths.ts';

/** How many runs wait for the visitor's approval, and whether it was counted no further. */
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
