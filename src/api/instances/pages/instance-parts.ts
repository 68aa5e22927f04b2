import type { Instance, InstanceVisit } from '#api/environments/pages/instance-table.ts';
import { operationPath } from '#api/pipeline/answers/location.ts';
import { renderMissing } from '#api/runs/pages/run/values.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderEmpty, renderPages, renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { withoutIds } from '#api/web/linked-text.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { getOutputs } from '../operations.ts';
import { listOfInstance } from '../resource-operations.ts';
import { download, list as listStates } from '../state-operations.ts';

/** Lists the resources of the instance. */
export async function renderResources(visit: InstanceVisit, instance: Instance): Promise<Html> {
  const cursor = visit.query('cursor');
  const { resources, next_cursor: next } = await visit.read(listOfInstance, {
    params: visit.params,
    query: { cursor },
  });
  if (resources.length === 0 && !cursor) {
    const [title, text] = instance.unrecorded_since
      ? ['No resources are recorded', 'It may hold some all the same: see the notice above.']
      : ['No resources', 'Resources appear after the first apply, or when a state is imported.'];
    return html`<div class="list-panel">${renderEmpty(title, text)}</div>`;
  }
  const link = (query: Query) => pagePath(pages.instance, visit.params, query);
  return html`<div class="list-panel">${renderTable({
    caption: 'Resources',
    rows: resources,
    columns: [
      { label: 'Address', kind: 'main', cell: ({ address }) => html`<span class="mono foreign">${address}</span>` },
      { label: 'Type', cell: ({ type }) => html`<span class="mono foreign">${type}</span>` },
      {
        label: 'Provider',
        kind: 'minor',
        cell: ({ provider }) => (provider ? html`<span class="foreign">${provider}</span>` : null),
      },
    ],
  })}</div>
${renderPages({ cursor, next }, link)}`;
}

/** Lists the outputs. Secret ones are marked, and their values are not shown. */
export async function renderOutputs(visit: InstanceVisit): Promise<Html> {
  const { outputs } = await visit.read(getOutputs, { params: visit.params });
  const rows = Object.entries(outputs);
  if (rows.length === 0)
    return html`<div class="list-panel">${renderEmpty('No outputs', 'Outputs are declared by the template and set by an apply.')}</div>`;
  return html`<div class="list-panel">${renderTable({
    caption: 'Outputs',
    rows,
    columns: [
      { label: 'Name', kind: 'main', cell: ([name]) => html`<span class="mono foreign">${name}</span>` },
      {
        label: 'Value',
        cell: ([, { value, sensitive, unrepresentable }]) =>
          sensitive
            ? html`<span class="muted">Secret, not shown</span>`
            : html`<pre class="value foreign">${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>${renderMissing(unrepresentable)}`,
      },
    ],
  })}</div>`;
}

/** Lists the state versions, with a form that compares two of them. */
export async function renderStates(visit: InstanceVisit, instance: Instance): Promise<Html> {
  const cursor = visit.query('cursor');
  const { state_versions: versions, next_cursor: next } = await visit.read(listStates, {
    params: visit.params,
    query: { cursor },
  });
  if (versions.length === 0) {
    return html`<div class="list-panel">${renderEmpty('No state', 'The first apply writes one. You can also import an existing state.')}</div>`;
  }
  const names = await readNames(visit.em, { principals: versions.map((each) => each.created_by) });
  const { id } = visit.params;
  const link = (query: Query) => pagePath(pages.instance, { id }, { tab: 'states', ...query });
  const refusal = findOpeningRefusal(instance);
  return html`<form method="get" action="${pagePath(pages.compareStates, { id })}" class="stack">
<div class="list-panel">${renderTable({
    caption: 'State versions',
    rows: versions,
    rowId: ({ serial }) => `s-${serial}`,
    columns: [
      {
        label: 'Version',
        kind: 'main',
        cell: ({ serial }) =>
          html`<a href="${pagePath(pages.stateVersion, { id, serial: String(serial) })}">#${serial}</a>`,
      },
      {
        label: 'Compare',
        cell: ({ serial }) => {
          const choices = [
            ['from', serial === versions[1]?.serial || (versions.length === 1 && serial === versions[0]?.serial)],
            ['to', serial === versions[0]?.serial],
          ] as const;
          return html`${choices.map(
            ([name, isChosen]) =>
              html`<label class="choice choice-inline"><input type="radio" name="${name}" value="${serial}" ${isChosen ? html`checked` : null}> <span>${name}<span class="unseen"> version ${serial}</span></span></label>`,
          )}`;
        },
      },
      { label: 'Resources', kind: 'number', cell: ({ resource_count: count }) => String(count) },
      { label: 'Size', kind: 'number', cell: ({ size }) => formatSize(size) },
      {
        label: 'Written by',
        cell: ({ run_id: run, created_by: by }) =>
          run ? renderRunLink(run) : by ? html`imported by ${names.get(by)?.name ?? by}` : null,
      },
      { label: 'When', cell: ({ created_at: at }) => renderAge(at) },
      {
        label: 'File',
        kind: 'minor',
        cell: ({ serial }) =>
          refusal
            ? null
            : html`<a href="${operationPath(download, { id, serial: String(serial) })}" download>Download, secrets included</a>`,
      },
    ],
  })}</div>
${
  refusal ??
  html`<p class="muted">A downloaded state contains secrets in plain text.</p>
<div class="actions"><button class="button button-plain" type="submit">Compare the two</button></div>`
}</form>
${renderPages({ cursor, next }, link)}`;
}

/** Why the visitor may neither download nor compare the states of the instance; null if they may. */
export function findOpeningRefusal({ actions }: Pick<Instance, 'actions'>): Html | null {
  const { allowed, reason } = actions.find(({ name }) => name === 'download_state') ?? { allowed: false, reason: null };
  return allowed
    ? null
    : html`<p class="muted">You cannot download or compare states. ${withoutIds(toSentence(reason ?? ''))}</p>`;
}

/** A size in bytes for people, such as "1.4 MiB". */
export function formatSize(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
