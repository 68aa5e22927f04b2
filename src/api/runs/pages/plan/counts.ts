import { type Html, html } from '#api/web/html.ts';
import { formatCount } from '#api/web/text.ts';
import { type ChangeKind, changeKinds } from '#domain/runs/plans/change-kinds.ts';
import type { PlanSummary } from '#domain/runs/plans/model.ts';
import type { SectionCounts } from '#domain/runs/plans/section-counts.ts';
import { lookOf } from './kinds.ts';

/**
 * What a plan does, in words, destructions first: "2 destroy · 1 replace · 5 change". In the summary of a run, a replacement also counts as
 * an addition and as a destruction.
 */
export function renderPlanCounts(summary: PlanSummary): Html {
  const { replace } = summary;
  const counts = { ...summary, destroy: summary.destroy - replace, add: summary.add - replace };
  return html`${renderCounts(counts)}${renderSectionCounts(summary)}`;
}

/** What the plan has besides its changes of resources: " · 1 output changes · 2 checks fail". */
export function renderSectionCounts({ outputs, checks, warnings, actions, deferred }: SectionCounts): Html {
  const parts = [
    [outputs, 'output changes', 'outputs change'],
    [actions, 'action', 'actions'],
    [deferred, 'deferred', 'deferred'],
    [checks, 'check fails', 'checks fail'],
    [warnings, 'warning', 'warnings'],
  ] as const;
  return html`${parts
    .filter(([count]) => count > 0)
    .map(
      ([count, one, many]) =>
        html`<span class="muted">\u00a0· </span><span class="plan-count">${formatCount(count)} ${count === 1 ? one : many}</span>`,
    )}`;
}

/** Like `renderPlanCounts`, for counts in which a replacement counts once. */
export function renderCounts(counts: Partial<Record<ChangeKind, number>>, operation = 'apply'): Html {
  const present = changeKinds.filter((kind) => kind !== 'unchanged' && (counts[kind] ?? 0) > 0);
  if (present.length === 0)
    return html`<span class="plan-counts muted">${operation === 'scan' ? 'nothing differs' : 'no resource changes'}</span>`;
  return html`<span class="plan-counts">${present.map(
    (kind, index) =>
      html`${index > 0 ? html`<span class="muted">\u00a0· </span>` : null}<span class="plan-count kind-${kind}">${formatCount(counts[kind] ?? 0)} ${lookOf(kind, operation).counted}</span>`,
  )}</span>`;
}
