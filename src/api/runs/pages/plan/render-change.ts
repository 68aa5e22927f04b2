import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import type { LocalPath } from '#api/web/paths.ts';
import { formatCount } from './counts.ts';
import { describeCause, kindLooks } from './kinds.ts';
import type { PlannedChange } from './planned-change.ts';
import type { Compared } from './values/compare.ts';
import { type Difference, findDifferences } from './values/differences.ts';
import { showUnseen } from './values/print.ts';
import { type Extent, renderPlain, renderSides } from './values/render-value.ts';

/** How a change is shown. */
export interface ChangeView extends Extent {
  readonly operation: string;
  readonly isOpen: boolean;
  readonly mostDifferences: number;
  readonly mostUnchanged: number;
  /** The page that shows this change alone, whole; null: this is that page. */
  readonly whole: LocalPath | null;
}

/** A resource that a plan changes: closed, it says what happens to it; opened, which values change. */
export function renderChange(change: PlannedChange, view: ChangeView): Html {
  const { kind, address, position } = change;
  const { differences, unchanged } = findDifferences(change, view.effort);
  const look = kindLooks[kind];
  return html`<details class="plan-change kind-${kind}" id="r-${position}" ${view.isOpen ? html`open` : null}>
<summary>${renderIcon('chevron-right')}<span class="plan-kind">${renderIcon(look.icon)}${look.word}</span>
<span class="plan-address foreign">${showUnseen(address)}</span> <span class="plan-gist foreign">${summarize(change, differences)}</span></summary>
<div class="plan-body" hx-ignore>
${renderNotes(change, differences, view)}
${renderDifferences(differences, view)}
${renderUnchanged(unchanged, view)}
<p class="plan-links"><a href="#r-${position}">Link to this change</a>${view.whole ? html` <a href="${view.whole}">Show it whole</a>` : null}</p>
</div>
</details>`;
}

/** How many names of attributes stand beside the address. */
const mostNames = 3;

/** Which attributes change, in short. What is added or destroyed changes all of them. */
function summarize({ kind, previous_address: previous }: PlannedChange, differences: readonly Difference[]): string {
  if (kind === 'move' && previous) return `from ${showUnseen(previous)}`;
  if (kind !== 'change' && kind !== 'replace') return '';
  const causes = differences.filter(({ forcesReplacement }) => forcesReplacement);
  const names = new Set((causes.length > 0 ? causes : differences).map(({ path }) => String(path[0] ?? '')));
  const shown = [...names].filter(Boolean).slice(0, mostNames).map(shorten);
  if (shown.length === 0) return '';
  const more = names.size > mostNames ? ` and ${names.size - mostNames} more` : '';
  return `${causes.length > 0 ? 'forced by ' : ''}${shown.join(', ')}${more}`;
}

/** The name of an attribute. A stranger may have chosen it. */
function shorten(name: string): string {
  return showUnseen(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}

function renderNotes(change: PlannedChange, differences: readonly Difference[], { operation }: ChangeView): Html {
  const { kind, previous_address: previous, imported, action_reason: reason } = change;
  const cause = describeCause(kind, reason, operation);
  const nothing = differences.length === 0 ? describeNothing(change) : null;
  return html`${cause ? html`<p>${cause}</p>` : null}
${previous ? html`<p>Moved from <span class="foreign plan-value">${showUnseen(previous)}</span>.</p>` : null}
${imported ? html`<p>It exists already and is imported${imported.id === null ? '' : html` by the id <span class="foreign plan-value">${showUnseen(imported.id)}</span>`}.</p>` : null}
${kind === 'forget' ? html`<p>It is no longer managed, and is not destroyed.</p>` : null}
${nothing ? html`<p>${nothing}</p>` : null}`;
}

function describeNothing({ kind, sensitive }: PlannedChange): string | null {
  if (kind === 'change') {
    return (sensitive ?? []).length > 0
      ? 'Only sensitivity changed.'
      : 'The tool plans an update, and no value that it shows differs.';
  }
  return kind === 'move' || kind === 'import' ? 'No value changes.' : null;
}

function renderDifferences(differences: readonly Difference[], view: ChangeView): Html | null {
  if (differences.length === 0) return null;
  const shown = differences.slice(0, view.mostDifferences);
  const hidden = differences.length - shown.length;
  return html`<ul class="plan-values">${shown.map((each) => renderDifference(each, view))}</ul>
${hidden > 0 ? html`<p class="plan-gap">${formatCount(hidden)} more values change.${view.whole ? html` <a href="${view.whole}">Show all</a>` : null}</p>` : null}`;
}

function renderDifference({ shown, before, after, note, forcesReplacement }: Difference, view: ChangeView): Html {
  const isSecret = note?.startsWith('sensitive') === true;
  return html`<li><span class="plan-path foreign">${showUnseen(shown || 'value')}</span>${forcesReplacement ? html` <strong class="plan-forces">forces replacement</strong>` : null}
${note ? html`<em class="plan-note">${note}</em>` : null}${isSecret ? null : renderSides(before, after, view)}</li>`;
}

function renderUnchanged(unchanged: readonly Compared[], view: ChangeView): Html | null {
  if (unchanged.length === 0) return null;
  const shown = unchanged.slice(0, view.mostUnchanged);
  const hidden = unchanged.length - shown.length;
  return html`<details class="plan-unchanged"><summary>${formatCount(unchanged.length)} unchanged</summary>
<ul class="plan-values">${shown.map(
    (each) =>
      html`<li><span class="plan-path foreign">${showUnseen(each.shown || 'value')}</span> ${renderPlain(each.after, view)}</li>`,
  )}</ul>
${hidden > 0 ? html`<p class="plan-gap">${formatCount(hidden)} more stay as they are.${view.whole ? html` <a href="${view.whole}">Show all</a>` : null}</p>` : null}</details>`;
}
