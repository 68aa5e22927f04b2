import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { describeWeakestRole } from '#domain/shared/access/weakest-role.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { listOfRun } from '../../../approvals/reviewer-operations.ts';
import { renderShortage } from '../../reviewers/labels.ts';
import type { ReviewForm, RunVisit, ShownRun } from '../../run-tab.ts';
import { findStanding, type Standing } from './approval-progress.ts';
import { renderReviewForm } from './review-form.ts';

/** The review under a plan: who must still approve, by when, and the buttons. Only a run that waits for approval has one. */
export async function renderReview(visit: RunVisit, run: ShownRun, form: ReviewForm = {}): Promise<Html | null> {
  if (run.plan === null || run.status !== 'pending_approval') return null;
  const [names, reviewers] = await Promise.all([
    readNames(visit.em, { teams: [run.team_id] }),
    visit.read(listOfRun, { params: { id: run.id } }),
  ]);
  const team = run.team_id === null ? null : (names.get(run.team_id)?.name ?? null);
  const standing = findStanding(run);
  return html`<section class="plan-review panel" id="review" aria-labelledby="review-title">
<h2 id="review-title">Review</h2>
<div class="plan-review-standing">${renderStanding(run, standing, team)}</div>
${renderShortage(reviewers, 'run')}
${renderReviewForm(run, standing, form)}
</section>`;
}

function renderStanding(run: ShownRun, standing: Standing, team: string | null): Html {
  const { expires_at: expiresAt } = run.approval;
  return html`<p><strong>${standing.given} of ${pluralize(standing.required, 'approval')}.</strong> ${describeApprovers(standing)} ${describeMissing(standing, team)}</p>
${expiresAt ? html`<p>The time for approval ends ${renderTime(expiresAt)}. Then the run times out, and nothing is applied.</p>` : null}
<p class="muted">${describeRule(run)} <a href="${pagePath(pages.runReviewers, { id: run.id })}">Who can approve</a></p>`;
}

function describeApprovers({ approvedBy }: Standing): Html | null {
  return approvedBy.length === 0 ? null : html`<span class="foreign">${approvedBy.join(', ')}</span> approved.`;
}

function describeMissing({ missing, waitedFor }: Standing, team: string | null): Html {
  if (missing === 0) return html`All approvals are given.`;
  const people = missing === 1 ? 'One more person' : `${missing} more people`;
  const from =
    team === null ? html`who may review runs` : html`who may review runs of <span class="foreign">${team}</span>`;
  const asked = html`<span class="foreign">${waitedFor.join(', ')}</span>`;
  return html`${people} ${from} must approve.${waitedFor.length > 0 ? html` Requested from: ${asked}.` : null}`;
}

/** Who may approve, so that visitors know it before they try. */
function describeRule({ approval, template_version: version }: ShownRun): string {
  const needs = approval.needs.map(
    ({ permission, because }) =>
      ` Reviewing it takes ${describeWeakestRole(permission) ?? permission}, because ${because}.`,
  );
  if (approval.allow_self) return `People may approve their own runs here.${needs.join('')}`;
  return `Only people who neither requested this run, nor a run that it repeats, nor published version ${version} of its template can approve it.${needs.join('')}`;
}
