import { renderIcon } from '#api/web/components/icon.ts';
import { fieldId } from '#api/web/forms/form.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { formatCount } from '#api/web/text.ts';
import { type ChangeKind, changeKinds } from '#domain/runs/plans/change-kinds.ts';
import type { ShownRun } from '../run-tab.ts';
import { renderCounts, renderSectionCounts } from './counts.ts';
import { lookOf } from './kinds.ts';
import { type PlanAddress, planPath } from './plan-address.ts';
import type { PlanPage } from './planned-change.ts';

/** What a plan does in words, and buttons to move through its changes. */
export function renderPlanHead(run: ShownRun, plan: PlanPage): Html {
  return html`<header class="plan-head">
<h2 class="plan-title">${run.operation === 'scan' ? 'Found' : 'Plan'}: ${renderCounts(plan.counts, run.operation)}${run.plan ? renderSectionCounts(run.plan.summary) : null}</h2>
${run.status === 'pending_approval' ? html`<a class="button button-plain" href="#review">${renderIcon('hand')}Go to the review</a>` : null}
</header>`;
}

/** Buttons to move through the changes. They appear only where scripts run. */
export function renderKeys(): Html {
  return html`<span class="plan-keys">
${renderKey('p', 'previous', 'Previous change', 'Previous')}
${renderKey('n', 'next', 'Next change', 'Next')}
${renderKey('e', 'toggle', 'Open or close the current change', 'Open')}
${renderKey('E', 'toggle-all', 'Open or close all changes', 'Open all')}
</span>`;
}

function renderKey(key: string, does: string, says: string, label: string): Html {
  return html`<button class="button button-plain button-small" type="button" data-key="${key}" data-key-says="${says}" data-plan="${does}" title="${says}">${label} <kbd aria-hidden="true">${key}</kbd></button>`;
}

/** The filters of a plan: by kind as links, and by a text. They are in the address, and work without scripts. */
export function renderPlanFilters(run: ShownRun, plan: PlanPage, { kind, q }: PlanAddress): Html {
  const kinds = changeKinds.filter((each) => plan.counts[each] > 0);
  return html`<div class="plan-filters">
<nav aria-label="Kinds of change"><ul class="chips">
${renderChip(run, { q }, `All ${formatCount(plan.total)}`, kind === undefined)}
${kinds.map((each) => renderChip(run, { q, kind: each }, describe(each, plan.counts[each], run.operation), kind === each))}
</ul></nav>
<form class="filters" method="get" action="${pagePath(pages.run, { id: run.id })}" role="search" aria-label="Changes of this plan">
<input type="hidden" name="tab" value="plan">${kind === undefined ? null : html`<input type="hidden" name="kind" value="${kind}">`}
<div class="field"><label class="unseen" for="${fieldId('q')}">Address or attribute</label><input id="${fieldId('q')}" type="search" name="q" value="${q ?? ''}" placeholder="Address or attribute" maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false" data-key="f" data-key-says="Filter the plan"></div>
<button class="button button-plain" type="submit">Filter</button>
</form>
</div>`;
}

function renderChip(run: ShownRun, address: PlanAddress, label: string, isCurrent: boolean): Html {
  return html`<li><a class="chip ${address.kind ? `kind-${address.kind}` : ''}" href="${planPath(run.id, address)}" ${isCurrent ? html`aria-current="true"` : null}>${label}</a></li>`;
}

function describe(kind: ChangeKind, count: number, operation: string): string {
  return `${formatCount(count)} ${lookOf(kind, operation).counted}`;
}

/** The plan in the tool's own text. The tool counts in another way, so a line explains the difference. */
export function renderRawPlan(run: ShownRun, { counts }: PlanPage): Html {
  const asTool =
    counts.replace > 0
      ? ` The tool's own output counts ${formatCount(counts.replace)} replace as an add and a destroy each: ${formatCount(counts.add + counts.replace)} to add, ${formatCount(counts.change)} to change, ${formatCount(counts.destroy + counts.replace)} to destroy.`
      : '';
  return html`<p class="plan-raw muted"><a href="${pagePath(pages.runPlanFile, { id: run.id })}">${renderIcon('download')}Download ${run.operation === 'scan' ? 'all that it found' : 'the whole plan'} as JSON</a>, with secrets masked.${asTool}</p>`;
}
