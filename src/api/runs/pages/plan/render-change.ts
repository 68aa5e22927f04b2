import { renderIcon } from '#api/web/components/icon.ts';
import { showUnseen } from '#api/web/components/value-change/print.ts';
import {
  type ChangesView,
  renderUnchanged,
  renderValueChanges,
} from '#api/web/components/value-change/value-changes.ts';
import { type Html, html } from '#api/web/html.ts';
import { type Difference, findDifferences } from './differences.ts';
import { describeCause, lookOf } from './kinds.ts';
import type { PlannedChange } from './planned-change.ts';

/** How a change is shown. */
export interface ChangeView extends ChangesView {
  readonly operation: string;
  readonly isOpen: boolean;
}

/** A resource that a plan changes: closed, it says what happens to it; opened, which values change. */
export function renderChange(change: PlannedChange, view: ChangeView): Html {
  const { kind, address, position } = change;
  const { differences, unchanged } = findDifferences(change, view.effort);
  const look = lookOf(kind, view.operation);
  return html`<details class="plan-change kind-${kind}" id="r-${position}" ${view.isOpen ? html`open` : null}>
<summary>${renderIcon('chevron-right')}<span class="plan-kind">${renderIcon(look.icon)}${look.word}</span>
<span class="plan-address foreign">${showUnseen(address)}</span> <span class="plan-gist foreign">${summarize(change, differences)}</span></summary>
<div class="plan-body" hx-ignore>
${renderNotes(change, differences, view)}
${renderValueChanges(differences, view, renderForcing)}
${renderUnchanged(unchanged, view)}
<p class="plan-links"><a href="#r-${position}">Link to this change</a>${view.whole ? html` <a href="${view.whole}">Show it whole</a>` : null}</p>
</div>
</details>`;
}

/** How many names of attributes are listed beside the address. */
const maxNames = 3;

/** Lists in short which attributes change. An addition or a destruction changes all of them, so it lists none. */
function summarize({ kind, previous_address: previous }: PlannedChange, differences: readonly Difference[]): string {
  if (kind === 'move' && previous) return `from ${showUnseen(previous)}`;
  if (kind !== 'change' && kind !== 'replace') return '';
  const causes = differences.filter(({ forcesReplacement }) => forcesReplacement);
  const names = new Set((causes.length > 0 ? causes : differences).map(({ path }) => String(path[0] ?? '')));
  const shown = [...names].filter(Boolean).slice(0, maxNames).map(shorten);
  if (shown.length === 0) return '';
  const more = names.size > maxNames ? ` and ${names.size - maxNames} more` : '';
  return `${causes.length > 0 ? 'forced by ' : ''}${shown.join(', ')}${more}`;
}

/** Shortens the name of an attribute. It may be of any length, because a stranger may have chosen it. */
function shorten(name: string): string {
  return showUnseen(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}

function renderNotes(change: PlannedChange, differences: readonly Difference[], { operation }: ChangeView): Html {
  const { kind, previous_address: previous, imported, action_reason: reason } = change;
  const cause = describeCause(kind, reason, operation);
  const nothing = differences.length === 0 ? describeNothing(change) : null;
  return html`${cause ? html`<p>${cause}</p>` : null}
${previous ? html`<p>Moved from <span class="foreign value-text">${showUnseen(previous)}</span>.</p>` : null}
${imported ? html`<p>It exists already and is imported${imported.id === null ? '' : html` by the id <span class="foreign value-text">${showUnseen(imported.id)}</span>`}.</p>` : null}
${kind === 'forget' ? html`<p>It is no longer managed, and is not destroyed.</p>` : null}
${nothing ? html`<p>${nothing}</p>` : null}`;
}

function describeNothing({ kind, sensitive, before, after }: PlannedChange): string | null {
  if (kind === 'change' && before === null && after === null)
    return 'The plan shows no values, so it is not known yet what changes. A template without plan steps is always assumed to change.';
  if (kind === 'change') {
    return (sensitive ?? []).length > 0
      ? 'Only sensitivity changed.'
      : 'The tool plans an update, and no value that it shows differs.';
  }
  return kind === 'move' || kind === 'import' ? 'No value changes.' : null;
}

function renderForcing({ forcesReplacement }: Difference): Html | null {
  return forcesReplacement ? html`<strong class="plan-forces">forces replacement</strong>` : null;
}
