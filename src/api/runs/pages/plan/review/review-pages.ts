import { renderPageHead } from '#api/web/components/page-head.ts';
import { page } from '#api/web/declarations/area.ts';
import { renderSummary } from '#api/web/forms/form.ts';
import { submit } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { type ParamsOf, pages } from '#api/web/paths.ts';
import type { PageHandler } from '#api/web/visit/route.ts';
import { review } from '../../../approvals/approval-operations.ts';
import { getRun } from '../../../operations.ts';
import { showRunPage } from '../../run-page.ts';
import type { ReviewForm, RunVisit, ShownRun } from '../../run-tab.ts';
import { planPath } from '../plan-address.ts';
import { renderMoved } from './moved.ts';
import { reviewFields } from './review-form.ts';

type Handler = PageHandler<ParamsOf<typeof pages.reviewRun>>;

const decide: Handler = async (visit) => {
  const body = visit.form(...reviewFields);
  const { id } = visit.params;
  const submission = await submit(visit, reviewFields, () => visit.run(review, { params: { id }, body }));
  if (submission.done)
    return visit.redirect(planPath(id, { reviewed: body.decision === 'approve' ? 'approved' : 'rejected' }));
  return showProblem(visit, { problems: submission.problems, typed: body }, submission.problems.status);
};

/**
 * Shows a refused review: nothing was decided. The plan is shown again with the form and what was typed. If the plan has changed, or the
 * run no longer waits, a notice is shown instead.
 */
async function showProblem(visit: RunVisit, form: ReviewForm, status: number) {
  const run = await visit.read(getRun, { params: { id: visit.params.id }, query: {} });
  const hasMoved = run.plan !== null && form.typed?.['plan_digest'] !== run.plan.digest;
  if (!hasMoved && run.status === 'pending_approval') return showRunPage(visit, { status, review: form });
  const title = hasMoved ? 'The plan changed' : 'Nothing was decided';
  const crumbs = [{ label: `Run of ${run.instance}`, path: planPath(run.id) }];
  const main = html`<div class="page">${renderPageHead({ title, crumbs })}
${hasMoved ? renderMoved(run) : renderEnded(run, form)}</div>`;
  return visit.show({ title, hasProblem: true, main }, status);
}

/** The notice for a run that no longer waits. It has no form. */
function renderEnded(run: ShownRun, { problems }: ReviewForm): Html {
  return html`${problems ? renderSummary(problems, []) : null}
<p><a class="button button-primary" href="${planPath(run.id)}">Back to the run</a></p>`;
}

/** The form that approves or rejects a plan. */
export const reviewPages = [
  page('GET', pages.reviewRun, (visit) => visit.redirect(`${planPath(visit.params.id)}#review`)),
  page('POST', pages.reviewRun, decide),
];
