import { type Html, html } from '#api/web/html.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { listPlanChanges } from '../../plan-operations.ts';
import type { ReviewForm, RunTab, RunVisit, ShownRun } from '../run-tab.ts';
import { renderNoPlan, renderRemovedPlan } from './no-plan.ts';
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

/** A plan, unless retention has removed it. */
async function unlessRemoved(render: () => Promise<Html>): Promise<Html> {
  try {
    return await render();
  } catch (error) {
    if (error instanceof NotFound) return renderRemovedPlan();
    throw error;
  }
}

/** The plan of a run beside something else, without filters and without a review. */
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

/** A change that the plan does not have is the whole plan's business. */
async function renderAlone(visit: RunVisit, run: ShownRun, position: string): Promise<Html> {
  const after = /^[1-9]\d{0,8}$/.test(position) ? Number(position) - 1 : 0;
  const query = { after: String(after), limit: '1' };
  const { changes, total } = await visit.read(listPlanChanges, { params: { id: run.id }, query });
  const [change] = changes;
  if (!change) return renderWholePlan(visit, run, {});
  return html`<section class="plan" id="plan" aria-label="One change of the plan">${renderOneChange(run, change, total)}</section>`;
}
