import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { list as listApprovals } from '../../../approvals/inbox-operations.ts';
import { mayApprove } from '../../approval-count.ts';
import type { RunVisit, ShownRun } from '../../run-tab.ts';
import { planPath } from '../plan-address.ts';

/** Confirmations, by the `reviewed` parameter that the form redirects to. */
const decisions: Readonly<Record<string, string>> = {
  approved: 'You approved this plan. Your review is final.',
  rejected: 'You rejected this plan. The run ends, and nothing is applied.',
};

/** How many of the visitor's waiting runs are read to find the next one. */
const max = 20;

/**
 * Confirms the review that the visitor has just sent, and links to the next run that waits for them. Null if the visitor has not reviewed
 * the run: anybody may open a link with `reviewed=approved`.
 */
export async function renderAfterReview(visit: RunVisit, run: ShownRun): Promise<Html | null> {
  const said = decisions[visit.query('reviewed') ?? ''];
  const hasReviewed = run.approval.reviews.some(({ by }) => by.id === visit.principal.id);
  if (said === undefined || !hasReviewed) return null;
  return html`<div class="notice after-review" role="status" tabindex="-1" data-focus><p>${said}</p>${mayApprove(visit) ? await renderNext(visit, run) : null}</div>`;
}

/** Links to the next newer run that waits for the visitor. After the newest one, it links to the oldest. */
async function renderNext(visit: RunVisit, run: ShownRun): Promise<Html> {
  const { approvals, next_cursor: more } = await visit.read(listApprovals, { query: { limit: String(max) } });
  const waiting = approvals.map((approval) => approval.run).filter(({ id }) => id !== run.id);
  const next = waiting.find(({ id }) => id > run.id) ?? waiting[0];
  if (!next)
    return html`<p class="muted">Nothing else needs your approval. <a href="${pagePath(pages.approvals)}">Your approvals</a></p>`;
  const names = await readNames(visit.em, { environments: [next.environment_id] });
  const place = names.get(next.environment_id ?? '')?.name;
  const isLast = waiting.length === 1 && more === null;
  const label = isLast ? 'Next' : `Next of ${waiting.length}${more === null ? '' : '+'}`;
  return html`<a class="button button-primary" href="${planPath(next.id)}">${label}: <span class="foreign">${next.instance}${place ? ` in ${place}` : ''}</span></a>`;
}
