import { renderIcon } from '#api/web/components/icon.ts';
import { showUnseen } from '#api/web/components/value-change/print.ts';
import { renderValueChanges } from '#api/web/components/value-change/value-changes.ts';
import { type Html, html } from '#api/web/html.ts';
import { formatCount } from '#api/web/text.ts';
import { hasFailed } from '#domain/runs/plans/sections.ts';
import { newEffort } from '#domain/shared/values/comparison/compare.ts';
import { listValueChanges } from '#domain/shared/values/comparison/value-changes.ts';
import type { PlanPage } from './planned-change.ts';

type Sections = NonNullable<PlanPage['sections']>;

/** A list shows so many members. The whole plan as JSON has all. */
const maxShown = 100;
const view = { mostCharacters: 600, mostDifferences: maxShown, mostUnchanged: 0, whole: null };

/** What people should see before the changes: checks that fail, and warnings. */
export function renderConcerns({ checks, diagnostics }: Sections): Html {
  const failing = checks.filter(hasFailed);
  return html`${renderNotice(
    failing.length === 1 ? 'A check fails' : `${formatCount(failing.length)} checks fail`,
    failing.map(
      ({ address, problems, status }) =>
        html`<strong class="foreign">${showUnseen(address)}</strong>: <span class="foreign">${problems.map(showUnseen).join(' ') || (status === 'error' ? 'The tool cannot evaluate it.' : 'Its condition does not hold.')}</span>`,
    ),
  )}${renderNotice(
    diagnostics.length === 1 ? 'The tool warns' : `The tool gives ${formatCount(diagnostics.length)} warnings`,
    diagnostics.map(
      ({ message, detail, file, line }) =>
        html`<strong class="foreign">${showUnseen(message)}</strong>${file === null ? null : html` <span class="muted foreign">${showUnseen(file)}${line === null ? '' : ` line ${line}`}</span>`}${detail === null ? null : html`<br><span class="foreign">${showUnseen(detail)}</span>`}`,
    ),
  )}`;
}

function renderNotice(title: string, items: readonly Html[]): Html | null {
  if (items.length === 0) return null;
  return html`<div class="notice notice-problem" role="note">${renderIcon('triangle-alert')}<div><p>${title}</p>${renderItems(items)}</div></div>`;
}

/** What the plan does beside its changes of resources: outputs, actions, and what the tool puts off. */
export function renderBeside({ outputs, actions, deferred }: Sections, isScan: boolean): Html {
  const later = deferred.map(
    ({ change, reason }) =>
      html`<span class="foreign value-text">${showUnseen(change.address)}</span> <span class="muted">${toWords(reason)}</span>`,
  );
  return html`${renderOutputs(outputs, isScan)}${renderList('Actions', actions.map(renderAction))}${renderList('Put off to a later plan', later)}`;
}

function renderOutputs(outputs: Sections['outputs'], isScan: boolean): Html | null {
  if (outputs.length === 0) return null;
  const sideOf = (side: 'before' | 'after', absent: string) =>
    Object.fromEntries(outputs.filter(({ action }) => action !== absent).map((output) => [output.name, output[side]]));
  const { changes } = listValueChanges(sideOf('before', 'create'), sideOf('after', 'delete'), {
    effort: newEffort(),
    secrets: { values: [], othersMayChange: true },
  });
  const title = isScan ? 'Outputs that an apply would change' : 'Outputs';
  return html`<section class="panel stack" aria-label="${title}"><h3>${title}</h3>${
    renderValueChanges(changes, { ...view, effort: newEffort() }) ??
    html`<p class="muted">Only their sensitivity changes.</p>`
  }</section>`;
}

function renderAction({ address, event, trigger, deferred }: Sections['actions'][number]): Html {
  const when = [event, trigger === null ? null : `of ${showUnseen(trigger)}`].filter((each) => each !== null).join(' ');
  return html`<span class="foreign value-text">${showUnseen(address)}</span>${when === '' ? null : html` <span class="muted foreign">${when}</span>`}${deferred === null ? null : html` <span class="muted">put off: ${toWords(deferred)}</span>`}`;
}

function renderList(title: string, items: readonly Html[]): Html | null {
  if (items.length === 0) return null;
  return html`<section class="panel stack" aria-label="${title}"><h3>${title}</h3>${renderItems(items)}</section>`;
}

function renderItems(items: readonly Html[]): Html {
  const more = items.length - maxShown;
  return html`<ul>${items.slice(0, maxShown).map((item) => html`<li>${item}</li>`)}</ul>${more > 0 ? html`<p class="muted">And ${formatCount(more)} more: the whole plan as JSON has them.</p>` : null}`;
}

function toWords(reason: string): string {
  return reason.replaceAll('_', ' ');
}
