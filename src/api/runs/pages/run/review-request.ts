import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { ShownRun } from '../run-tab.ts';
import type { ShownEvent } from './timeline.ts';

/** Whether the visitor may approve the plan now. */
export function mayApprove({ actions }: Pick<ShownRun, 'actions'>): boolean {
  return actions.some(({ name, allowed }) => name === 'approve' && allowed);
}

/**
 * Says who was asked to review a run that waits for approval. The service notifies nobody by itself, so if nobody was asked, a visitor who
 * may ask gets a link to do so. A visitor who may approve the run reads that instead.
 * @param of the subject of the link, for people who hear the link without its context
 */
export function renderAsked(
  { id, actions, reviewers }: ShownRun,
  events: readonly ShownEvent[],
  of: Html | null = null,
): Html {
  if (mayApprove({ actions })) return html`<strong>You can approve this.</strong>`;
  if (reviewers.length > 0)
    return html`Asked: <span class="foreign">${reviewers.map(({ name }) => name).join(', ')}</span>.`;
  if (events.some(({ type }) => type === 'run.approval_requested')) return html`Everybody who may review it was asked.`;
  const mayAsk = actions.some(({ name, allowed }) => name === 'request_approval' && allowed);
  return html`Nobody has been asked yet.${
    mayAsk ? html` <a href="${pagePath(pages.requestApproval, { id })}">Ask for a review${of}</a>` : null
  }`;
}
