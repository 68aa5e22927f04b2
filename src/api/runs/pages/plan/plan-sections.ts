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

/** How many items a list shows. The plan as JSON has all of them. */
const maxShown = 100;
const view = { maxCharacters: 600, maxDifferences: maxShown, maxUnchanged: 0, whole: null };

/** What people should see before the changes: checks that fail, and warnings. */
export function renderConcerns({ checks, diagnostics }: Sections): Html {
  const failing = checks.filter(hasFailed);
  return html`${renderNotice(
    'problem',
    failing.length === 1 ? 'A check fails' : `${formatCount(failing.length)} checks fail`,
    failing.map(
      ({ address, problems, status }) =>
        html`<strong class="foreign">${showUnseen(address)}</strong>: <span class="foreign">${problems.map(showUnseen).join(' ') || (status === 'error' ? 'The tool cannot evaluate it.' : 'Its condition does not hold.')}</span>`,
    ),
  )}${renderNotice(
    'wait',
    diagnostics.length === 1 ? 'The tool warns' : `The tool gives ${formatCount(diagnostics.length)} warnings`,
    diagnostics.map(
      ({ message, detail, file, line }) =>
        html`<strong class="foreign">${showUnseen(message)}</strong>${file === null ? null : html` <span class="muted foreign">${showUnseen(file)}${line === null ? '' : ` line ${line}`}</span>`}${detail === null ? null : html`<br><span class="foreign">${showUnseen(detail)}</span>`}`,
    ),
  )}`;
}

function renderNotice(tone: 'problem' | 'wait', title: string, items: readonly Html[]): Html | null {
  if (items.length === 0) return null;
  return html`<div class="notice notice-${tone}" role="note">${renderIcon('triangle-alert')}<div><p>${title}</p>${renderItems(items)}</div></div>`;
}

/** The parts of a plan besides its changes of resources: outputs, actions, and deferred changes. */
export function renderBeside({ outputs, actions, deferred }: Sections, isScan: boolean): Html {
  const later = deferred.map(
    ({ change, reason }) =>
      html`<span class="foreign value-text">${showUnseen(change.address)}</span>: <span class="muted">${explainDeferral(reason)}</span>`,
  );
  return html`${renderOutputs(outputs, isScan)}${renderList('Actions', actions.map(renderAction))}${renderList('Deferred to a later plan', later)}`;
}

function renderOutputs(outputs: Sections['outputs'], isScan: boolean): Html | null {
  if (outputs.length === 0) return null;
  const sideOf = (side: 'before' | 'after', absent: string) =>
    Object.fromEntries(outputs.filter(({ action }) => action !== absent).map((output) => [output.name, output[side]]));
  const { changes } = listValueChanges(sideOf('before', 'create'), sideOf('after', 'delete'), {
    effort: newEffort(),
    // For an output that is entirely secret, the tool compares the values and reports only real changes.
    secrets: {
      values: outputs.filter(({ sensitive }) => sensitive).map(({ name }) => ({ path: [name], changed: true })),
      othersMayChange: true,
    },
  });
  const title = isScan ? 'Outputs that an apply would change' : 'Outputs';
  return html`<section class="panel stack" aria-label="${title}"><h3>${title}</h3>${
    renderValueChanges(changes, { ...view, effort: newEffort() }) ??
    html`<p class="muted">Only their sensitivity changes.</p>`
  }</section>`;
}

function renderAction({ address, event, trigger, deferred }: Sections['actions'][number]): Html {
  const when =
    event === null
      ? ''
      : `${actionEvents[event] ?? `at ${showUnseen(event)} of`} ${showUnseen(trigger ?? 'a resource')}`;
  return html`<span class="foreign value-text">${showUnseen(address)}</span>${when === '' ? null : html` <span class="muted foreign">${when}</span>`}${deferred === null ? null : html` <span class="muted">deferred: ${explainDeferral(deferred)}</span>`}`;
}

/** When the tool invokes an action, in words, by the tool's name for the moment. */
const actionEvents: Readonly<Record<string, string>> = {
  BeforeCreate: 'before it creates',
  AfterCreate: 'after it creates',
  BeforeUpdate: 'before it updates',
  AfterUpdate: 'after it updates',
  BeforeDestroy: 'before it destroys',
  AfterDestroy: 'after it destroys',
};

/** Why the tool defers a change, in words, by the tool's name for the reason. */
const deferrals: Readonly<Record<string, string>> = {
  instance_count_unknown: 'its count is not known yet',
  resource_config_unknown: 'its arguments are not known yet',
  provider_config_unknown: 'the configuration of its provider is not known yet',
  absent_prereq: 'something that it needs does not exist yet',
  deferred_prereq: 'it depends on a deferred change',
};

function explainDeferral(reason: string): string {
  return deferrals[reason] ?? showUnseen(reason.replaceAll('_', ' '));
}

function renderList(title: string, items: readonly Html[]): Html | null {
  if (items.length === 0) return null;
  return html`<section class="panel stack" aria-label="${title}"><h3>${title}</h3>${renderItems(items, 'plain-list')}</section>`;
}

function renderItems(items: readonly Html[], look: 'plain-list' | null = null): Html {
  const more = items.length - maxShown;
  return html`<ul ${look && html`class="${look}" role="list"`}>${items.slice(0, maxShown).map((item) => html`<li>${item}</li>`)}</ul>${more > 0 ? html`<p class="muted">And ${formatCount(more)} more: the whole plan as JSON has them.</p>` : null}`;
}
