import { renderEmpty } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { toSentence } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { describeDetail } from '#domain/runs/diagnostics/status-detail.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { type StatusReason, statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { listPlanChanges } from '../../plan-operations.ts';
import { type ReviewForm, type RunTab, type RunVisit, runTabPath, type ShownRun } from '../run-tab.ts';
import type { PlanAddress } from './plan-address.ts';
import { changesPerPage, renderOneChange, renderPlanList } from './plan-list.ts';
import { renderBeside, renderConcerns } from './plan-sections.ts';
import type { PlanPage } from './planned-change.ts';
import { renderAfterReview } from './review/after-review.ts';
import { renderMoved } from './review/moved.ts';
import { renderReview } from './review/review-panel.ts';
import { renderPlanFilters, renderPlanHead, renderRawPlan } from './toolbar.ts';

/** The plan of a run, and below it the review. */
export const planTab: RunTab = {
  key: 'plan',
  label: 'Plan',
  labelOfScan: 'Found',
  scripts: ['plan.js'],
  // A plan that is replaced while a reviewer reads it must not replace what they are about to approve.
  liveQuery: (visit, run) => {
    const digest = visit.query('digest') ?? run.plan?.digest;
    const reviewed = visit.query('reviewed');
    return { ...(digest !== undefined && { digest }), ...(reviewed !== undefined && { reviewed }) };
  },
  async render(visit, run, review) {
    const after = await renderAfterReview(visit, run);
    if (run.plan === null) return html`${after}${renderNoPlan(run)}`;
    const hasMoved = (visit.query('digest') ?? run.plan.digest) !== run.plan.digest;
    if (hasMoved) return html`${after}${renderMoved(run)}`;
    return html`${after}${await unlessRemoved(() => renderPlan(visit, run, review))}`;
  },
};

function addressOf(visit: RunVisit): PlanAddress {
  const [kind, q, after, change] = ['kind', 'q', 'after', 'change'].map((name) => visit.query(name));
  return { kind, q, after, change };
}

/** Renders a plan, or the notice that retention has removed it. */
async function unlessRemoved(render: () => Promise<Html>): Promise<Html> {
  try {
    return await render();
  } catch (error) {
    if (error instanceof NotFound) return renderRemovedPlan();
    throw error;
  }
}

/** The plan of a run on a page about something else, without filters and without a review. */
export function renderPlanBeside(visit: Visit, run: ShownRun): Promise<Html> {
  return unlessRemoved(async () => {
    const query = { limit: String(changesPerPage) };
    const plan = await visit.read(listPlanChanges, { params: { id: run.id }, query });
    return html`<section class="plan" id="plan" aria-label="Plan">
${renderPlanHead(run, plan)}
${renderPlanContent(run, plan, {})}
</section>`;
  });
}

async function renderPlan(visit: RunVisit, run: ShownRun, review: ReviewForm | null): Promise<Html> {
  const { change, ...address } = addressOf(visit);
  return change === undefined ? renderWholePlan(visit, run, address, review) : renderAlone(visit, run, change);
}

async function renderWholePlan(
  visit: RunVisit,
  run: ShownRun,
  address: PlanAddress,
  review: ReviewForm | null = null,
): Promise<Html> {
  const { kind, q, after } = address;
  const query = { kind, q, after, limit: String(changesPerPage) };
  const plan = await visit.read(listPlanChanges, { params: { id: run.id }, query });
  return html`<section class="plan" id="plan" aria-label="${run.operation === 'scan' ? 'What the scan found' : 'Plan'}">
${renderPlanHead(run, plan)}
${renderPlanContent(run, plan, address, plan.total > 1 ? renderPlanFilters(run, plan, address) : null)}
</section>
${await renderReview(visit, run, review ?? {})}`;
}

function renderPlanContent(run: ShownRun, plan: PlanPage, address: PlanAddress, filters: Html | null = null): Html {
  return html`${plan.sections && renderConcerns(plan.sections)}
${filters}
${renderPlanList(run, plan, address)}
${plan.sections && renderBeside(plan.sections, run.operation === 'scan')}
${renderRawPlan(run, plan)}`;
}

/** Shows one change alone. If the plan has no change at this position, shows the whole plan. */
async function renderAlone(visit: RunVisit, run: ShownRun, position: string): Promise<Html> {
  const after = /^[1-9]\d{0,8}$/.test(position) ? Number(position) - 1 : 0;
  const query = { after: String(after), limit: '1' };
  const { changes, total } = await visit.read(listPlanChanges, { params: { id: run.id }, query });
  const [change] = changes;
  if (!change) return renderWholePlan(visit, run, {});
  return html`<section class="plan" id="plan" aria-label="One change of the plan">${renderOneChange(run, change, total)}</section>`;
}

/** Explains why a run has no plan. It does not say that nothing changes: without a plan, the service does not know. */
function renderNoPlan(run: ShownRun): Html {
  const { title, explanation } = explain(run);
  const log = html`<a class="button button-plain" href="${runTabPath(run.id, 'log')}">Open the log</a>`;
  return html`<section class="panel" id="plan">${renderEmpty(title, explanation, run.status === 'queued' ? null : log)}</section>`;
}

/** Explains that a run had a plan which is no longer kept. */
function renderRemovedPlan(): Html {
  const explanation = 'Its retention period ended, or it was deleted with the run. Its summary and digest are above.';
  return html`<section class="panel" id="plan">${renderEmpty('The plan was removed', explanation)}</section>`;
}

function explain(run: ShownRun): { title: string; explanation: string } {
  return run.operation === 'scan' ? explainScan(run) : explainRun(run);
}

function explainScan({ status, status_reason: reason, status_detail: detail }: ShownRun): {
  title: string;
  explanation: string;
} {
  if (!isTerminal(status)) return { title: 'No result yet', explanation: 'The result of the scan appears here.' };
  const explanation = `${describeReason(reason, detail)} Nothing is known about whether anything differs.`;
  return { title: 'The scan ended without a result', explanation: explanation.trim() };
}

function explainRun({ status, status_reason: reason, status_detail: detail, phase }: ShownRun): {
  title: string;
  explanation: string;
} {
  if (isTerminal(status)) {
    const why = status === 'succeeded' ? 'No plan was needed.' : describeReason(reason, detail);
    const unknown = 'Nothing is known about what it would have changed.';
    return {
      title: 'The run ended without a plan',
      explanation: `${why} ${status === 'succeeded' ? '' : unknown}`.trim(),
    };
  }
  if (phase === 'queued') return { title: 'No plan yet', explanation: 'The run is waiting to be planned.' };
  return { title: 'No plan yet', explanation: 'The plan is being made and appears here when it is ready.' };
}

function describeReason(reason: string | null, detail: ShownRun['status_detail']): string {
  if (detail) return toSentence(describeDetail(detail));
  if (reason === null || !Object.hasOwn(statusReasons, reason)) return '';
  return toSentence(statusReasons[reason as StatusReason]);
}
