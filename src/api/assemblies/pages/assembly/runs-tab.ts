import type { FastifyReply } from 'fastify';
import { groupWordOf, renderRunStatus, runStatusLooks } from '#api/web/components/status.ts';
import { type Column, renderEmpty, renderPager, renderTable } from '#api/web/components/table.ts';
import { formatShortSpan, renderAgeByDay } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { isNodeEnded } from '#domain/assemblies/model.ts';
import { runStatuses } from '#domain/shared/vocabulary/runs.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { listRuns } from '../../run-operations.ts';
import { renderTally } from '../run/tally.ts';
import {
  type AssemblySubject,
  type AssemblyVisit,
  assemblyTabPath,
  type ListedAssemblyRun,
  operationWords,
} from '../views.ts';
import { assemblyPage } from './frame.ts';

export async function showRunsTab(visit: AssemblyVisit, assembly: AssemblySubject): Promise<FastifyReply> {
  const { id } = assembly;
  const cursor = visit.query('cursor');
  const filter = { environment_id: visit.query('environment_id'), status: visit.query('status') };
  const page = await visit.read(listRuns, { params: { id }, query: { ...filter, cursor, limit: '30' } });
  const { assembly_runs: runs, next_cursor: next } = page;
  const names = await readNames(visit.em, { environments: runs.map(({ environment_id: each }) => each) });
  const content = html`${renderFilters(assembly, filter)}
<div class="list-panel run-list">${runs.length > 0 ? renderRuns(runs, names) : renderNone(assembly, filter)}</div>
${renderPager({
  first: cursor ? assemblyTabPath(id, 'runs', filter) : null,
  next: next ? assemblyTabPath(id, 'runs', { ...filter, cursor: next }) : null,
})}`;
  return visit.show(assemblyPage(visit, assembly, 'runs', content));
}

function renderFilters({ id }: AssemblySubject, { status, environment_id: environment }: Query): Html {
  return html`<form class="filters" method="get" action="${pagePath(pages.assembly, { id })}" aria-label="Runs">
<input type="hidden" name="tab" value="runs">
${typeof environment === 'string' ? html`<input type="hidden" name="environment_id" value="${environment}">` : null}
<div class="field"><label for="status">Status</label><select id="status" name="status" data-key="f"><option value="">Any</option>${runStatuses.map(
    (each) =>
      html`<option value="${each}" ${each === status ? html`selected` : null}>${groupWordOf(runStatusLooks[each])}</option>`,
  )}</select></div>
<button class="button" type="submit">Filter</button>
</form>`;
}

function renderRuns(runs: readonly ListedAssemblyRun[], names: Names): Html {
  return renderTable({
    caption: 'Runs of the assembly, newest first',
    rows: runs,
    rowId: ({ id }) => `run-${id}`,
    columns: columnsWith(names),
  });
}

function columnsWith(names: Names): Column<ListedAssemblyRun>[] {
  return [
    { label: 'Status', cell: renderRunStatus },
    {
      label: 'Run',
      kind: 'main',
      cell: ({ id, assembly_id: assembly, operation, version, message }) =>
        html`<a href="${pagePath(pages.assemblyRun, { id: assembly, runID: id })}">${operationWords[operation]} ${version}</a>${message ? html`<p class="assembly-about muted foreign">${message.slice(0, 160)}</p>` : null}`,
    },
    {
      label: 'Environment',
      cell: ({ environment_id: id }) => html`<span class="foreign">${names.get(id)?.name ?? 'deleted'}</span>`,
    },
    { label: 'Nodes', cell: ({ nodes }) => renderNodes(nodes) },
    { label: 'Requested by', cell: ({ requested_by: by }) => html`<span class="foreign">${by.name}</span>` },
    { label: 'Age', cell: ({ created_at: at }) => renderAgeByDay(at) },
    {
      label: 'Duration',
      kind: 'number',
      cell: ({ started_at: start, finished_at: end }) =>
        start && end ? formatShortSpan(Date.parse(end) - Date.parse(start)) : null,
    },
  ];
}

function renderNodes(nodes: ListedAssemblyRun['nodes']): Html {
  const statuses = Object.values(nodes);
  const done = statuses.filter(isNodeEnded).length;
  return html`<span class="nowrap">${done} of ${statuses.length}</span> ${renderTally(statuses, { only: ['failed', 'timed_out', 'canceled', 'pending_approval'] })}`;
}

function renderNone(assembly: AssemblySubject, filter: Query): Html {
  const { id, latest_version: latest } = assembly;
  if (filter['status'] !== undefined || filter['environment_id'] !== undefined) {
    const all = html`<a class="button button-plain" href="${assemblyTabPath(id, 'runs')}">Show all runs</a>`;
    return renderEmpty('No matching runs', 'No run of this assembly matches the filters.', all);
  }
  if (latest === null) return renderEmpty('No runs yet', 'You can run it once a version is published.');
  return renderEmpty(
    'No runs yet',
    'A run applies the nodes in order. Nodes that do not depend on each other run in parallel.',
    html`<a class="button button-primary" href="${pagePath(pages.runAssembly, { id })}">Run it</a>`,
  );
}
