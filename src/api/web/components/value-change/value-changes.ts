import { type Html, html } from '../../html.ts';
import type { LocalPath } from '../../paths.ts';
import { formatCount } from '../../text.ts';
import { showUnseen } from './print.ts';
import { type Extent, renderPlain, renderSides, type Sides } from './render-value.ts';

/** A change of a value, as the domain and the API represent it. */
export interface ShownChange extends Sides {
  readonly label: string;
  readonly sensitive: boolean;
  readonly truncated: boolean;
  readonly note?: string | null | undefined;
}

/** How many values are shown, and how much of each. */
export interface ChangesView extends Extent {
  readonly maxDifferences: number;
  readonly maxUnchanged: number;
  /** The page that shows all of them; null if there is none. */
  readonly whole: LocalPath | null;
}

/** The values that differ, each before and after the change. Null if there are none. */
export function renderValueChanges<Change extends ShownChange>(
  changes: readonly Change[],
  view: ChangesView,
  renderMark: (change: Change) => Html | null = () => null,
): Html | null {
  if (changes.length === 0) return null;
  const shown = changes.slice(0, view.maxDifferences);
  return html`<ul class="value-changes">${shown.map((each) => renderValueChange(each, view, renderMark(each)))}</ul>
${renderGap(changes.length - shown.length, 'more values change', view.whole)}`;
}

function renderValueChange(change: ShownChange, extent: Extent, mark: Html | null): Html {
  const { label, sensitive, truncated, note } = change;
  const isWithheld = sensitive && change.kind === 'changed' && note?.startsWith('sensitive') === true;
  return html`<li><span class="value-path foreign">${showUnseen(shorten(label.trim()) || 'value')}</span>${mark ? html` ${mark}` : null}
${note ? html`<em class="value-note">${note}</em>` : null}${truncated ? html`<em class="value-note">cut around the difference</em>` : null}${isWithheld ? null : renderSides(change, extent)}</li>`;
}

/** The unchanged values, in a closed part. Null if there are none. */
export function renderUnchanged(
  unchanged: readonly { readonly label: string; readonly after: Sides['after'] }[],
  view: ChangesView,
): Html | null {
  if (unchanged.length === 0) return null;
  const shown = unchanged.slice(0, view.maxUnchanged);
  return html`<details class="value-unchanged"><summary>${formatCount(unchanged.length)} unchanged</summary>
<ul class="value-changes">${shown.map(
    ({ label, after }) =>
      html`<li><span class="value-path foreign">${showUnseen(shorten(label) || 'value')}</span> ${renderPlain(after, view)}</li>`,
  )}</ul>
${renderGap(unchanged.length - shown.length, 'more stay as they are', view.whole)}</details>`;
}

const maxLabelLength = 1000;

/** Shortens a label. It contains the names of everything around a value, which a stranger may have chosen. */
function shorten(label: string): string {
  return label.length > maxLabelLength ? `${label.slice(0, maxLabelLength).toWellFormed()}…` : label;
}

function renderGap(hidden: number, what: string, whole: LocalPath | null): Html | null {
  if (hidden <= 0) return null;
  return html`<p class="value-gap">${formatCount(hidden)} ${what}.${whole ? html` <a href="${whole}">Show all</a>` : null}</p>`;
}
