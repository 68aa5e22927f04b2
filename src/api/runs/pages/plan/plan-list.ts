import { renderEmpty, renderPager } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { formatCount } from '#api/web/text.ts';
import { newEffort } from '#domain/shared/values/comparison/compare.ts';
import type { ShownRun } from '../run-tab.ts';
import { type PlanAddress, planPath } from './plan-address.ts';
import type { PlannedChange, PlanPage } from './planned-change.ts';
import { renderChange } from './render-change.ts';
import { renderKeys } from './toolbar.ts';

/** The number of changes on a page of a plan. */
export const changesPerPage = 200;
/** Up to this number of changes, all of them are open. */
const fewChanges = 3;
const inList = { maxCharacters: 600, maxDifferences: 40, maxUnchanged: 25 };
const alone = { maxCharacters: 200_000, maxDifferences: 3000, maxUnchanged: 3000 };
/** The size limit of a page in characters. Changes beyond it show only their heads, with links to the full changes. */
const maxCharactersOfPage = 1_500_000;

/** A page of a plan's changes. Each is closed, unless there are few of them or it is an import. */
export function renderPlanList(run: ShownRun, plan: PlanPage, address: PlanAddress): Html {
  if (plan.total === 0) return renderNoChanges(run);
  if (plan.changes.length === 0) {
    const all = html`<a class="button button-plain" href="${planPath(run.id)}">Show all changes</a>`;
    return renderEmpty('No matching changes', `The plan has ${formatCount(plan.total)} changes.`, all);
  }
  const next = plan.next_after === null ? null : planPath(run.id, { ...address, after: String(plan.next_after) });
  const first = address.after === undefined ? null : planPath(run.id, { ...address, after: undefined });
  return html`<div class="plan-bar"><p class="plan-shown muted">${describeShown(plan, address)}</p>${plan.changes.length > 1 ? renderKeys() : null}</div>
<ol class="plan-changes" role="list" data-changes-per-page="${changesPerPage}" data-total="${plan.total}">${renderAll(run, plan)}</ol>
${renderPager({ first, next })}`;
}

function renderNoChanges({ operation, partial }: ShownRun): Html {
  if (operation === 'scan') return renderEmpty('No differences', 'Everything is as it was deployed.');
  const looked = partial
    ? 'The options of this run exclude a part, about which nothing is known.'
    : 'Every resource is as the configuration says.';
  return renderEmpty('This plan changes no resource', looked);
}

function describeShown({ changes, matching, total }: PlanPage, { kind, q, after }: PlanAddress): string {
  const isFiltered = kind !== undefined || q !== undefined;
  const fitting = isFiltered
    ? `${formatCount(matching)} matching, of ${formatCount(total)} changes`
    : formatCount(total);
  const from = after === undefined ? '' : ` after number ${formatCount(Number(after))}`;
  return `Showing ${formatCount(changes.length)}${from} of ${fitting}`;
}

function renderAll(run: ShownRun, { changes, total }: PlanPage): Html[] {
  const effort = newEffort();
  let left = maxCharactersOfPage;
  return changes.map((change) => {
    const room = left > 0 ? inList : { maxCharacters: 0, maxDifferences: 0, maxUnchanged: 0 };
    const whole = planPath(run.id, { change: String(change.position) });
    const isOpen = left > 0 && (total <= fewChanges || change.kind === 'import');
    const rendered = renderChange(change, { ...room, effort, isOpen, whole, operation: run.operation });
    left -= String(rendered).length;
    return html`<li>${rendered}</li>`;
  });
}

/** One change of a plan, with all of its values. */
export function renderOneChange(run: ShownRun, change: PlannedChange, total: number): Html {
  const back = `${planPath(run.id)}#r-${change.position}`;
  const view = { ...alone, effort: newEffort(), isOpen: true, whole: null, operation: run.operation };
  return html`<p class="plan-shown"><a href="${back}">${run.operation === 'scan' ? 'Back to all that the scan found' : 'Back to the plan and its review'}</a><span class="muted"> · change ${formatCount(change.position)} of ${formatCount(total)}</span></p>
<ol class="plan-changes" role="list"><li>${renderChange(change, view)}</li></ol>`;
}
