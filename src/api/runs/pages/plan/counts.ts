import { type Html, html } from '#api/web/html.ts';
import { type ChangeKind, changeKinds } from '#domain/runs/plans/change-kinds.ts';
import { kindLooks } from './kinds.ts';

/** A plan's summary as runs show it. A replacement counts as an addition and as a destruction, too. */
export interface ShownSummary {
  readonly add: number;
  readonly change: number;
  readonly destroy: number;
  readonly replace?: number;
  readonly forget?: number;
  readonly import?: number;
  readonly move?: number;
}

/** What a plan does, in words, destroys first: "2 destroy · 1 replace · 5 change". */
export function renderPlanCounts(summary: ShownSummary): Html {
  const { replace = 0 } = summary;
  return renderCounts({ ...summary, destroy: summary.destroy - replace, add: summary.add - replace, replace });
}

/** The same for counts in which a replacement is one. */
export function renderCounts(counts: Partial<Record<ChangeKind, number>>): Html {
  const present = changeKinds.filter((kind) => kind !== 'unchanged' && (counts[kind] ?? 0) > 0);
  if (present.length === 0) return html`<span class="plan-counts muted">no resource changes</span>`;
  return html`<span class="plan-counts">${present.map(
    (kind, index) =>
      html`${index > 0 ? html`<span class="muted"> · </span>` : null}<span class="plan-count kind-${kind}">${formatCount(counts[kind] ?? 0)} ${kindLooks[kind].counted}</span>`,
  )}</span>`;
}

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}
