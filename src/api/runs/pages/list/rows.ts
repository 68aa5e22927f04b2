import { renderRunStatus } from '#api/web/components/status.ts';
import { type Column, renderTable } from '#api/web/components/table.ts';
import { renderAgeByDay, renderDuration } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { PlanSummary } from '#domain/runs/plans/model.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { operationWords } from '../labels.ts';
import { describeWaiting } from '../run/waiting.ts';
import type { ListedShownRun } from '../run-tab.ts';

/** The runs of a list, a line each. The first link of a row leads to its run. */
export function renderRuns(runs: readonly ListedShownRun[], names: Names): Html {
  return html`<div class="list-panel run-list">${renderTable({
    caption: 'Runs, newest first',
    columns: columnsWith(names),
    rows: runs,
    rowId: ({ id }) => `run-${id}`,
  })}</div>`;
}

function columnsWith(names: Names): Column<ListedShownRun>[] {
  const nameOf = (id: string) => clip(names.get(id)?.name ?? 'deleted');
  return [
    { label: 'Status', cell: renderRunStatus },
    { label: 'Run', kind: 'main', cell: renderName },
    { label: 'Changes', cell: ({ plan }) => plan && renderChanges(plan.summary) },
    {
      label: 'Template',
      kind: 'minor',
      cell: ({ template_id: id, template_version: version }) =>
        html`<span class="named-version">${nameOf(id)} <span class="muted">${version}</span></span>`,
    },
    { label: 'Environment', cell: ({ environment_id: id }) => id && nameOf(id) },
    { label: 'Requested by', cell: ({ requested_by: by }) => clip(by.name) },
    { label: 'Age', cell: ({ created_at: at }) => renderAgeByDay(at) },
    { label: 'Duration', kind: 'number', cell: renderDuration },
  ];
}

/** Shortens a long name. A tooltip shows the whole name. */
function clip(name: string): Html {
  return html`<span class="foreign clip" title="${name}">${name}</span>`;
}

/** The instance and its operation. Below them, the message and the reason why the run waits. */
function renderName(run: ListedShownRun): Html {
  const { id, instance, operation, message } = run;
  const waiting = describeWaiting(run);
  return html`<a href="${pagePath(pages.run, { id })}">${instance}</a> <span class="muted operation-${operation}">${operationWords[operation]}</span>${
    message ? html`<span class="run-note muted foreign clip" title="${message}">${message}</span>` : null
  }${
    waiting
      ? html`<span class="waits">waits for ${
          waiting.blocker ? html`<a href="${waiting.blocker.path}">${waiting.short}</a>` : waiting.short
        }</span>`
      : null
  }`;
}

/** A plan may have thousands of changes: "3.9K". */
const compact = new Intl.NumberFormat('en', { notation: 'compact' });

/**
 * How many resources a plan adds, changes, replaces and destroys. Destructions stand out. The counts of a plan include each replacement
 * among the additions and destructions as well.
 */
export function renderChanges(summary: Pick<PlanSummary, 'add' | 'change' | 'destroy' | 'replace'>): Html {
  const { change, replace } = summary;
  const [add, destroy] = [summary.add - replace, summary.destroy - replace];
  if (add + change + replace + destroy === 0) return html`<span class="muted">none</span>`;
  const inWords = `${add} to add, ${change} to change, ${replace > 0 ? `${replace} to replace, ` : ''}${destroy} to destroy`;
  const part = (kind: string, sign: string, number: number) =>
    number > 0 ? html`<span class="tally-${kind}">${sign}${compact.format(number)}</span> ` : null;
  return html`<span class="tally" role="img" aria-label="${inWords}" title="${inWords}">${part('add', '+', add)}${part('change', '~', change)}${part('replace', '±', replace)}${part('destroy', '−', destroy)}</span>`;
}
