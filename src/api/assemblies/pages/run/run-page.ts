import type { FastifyReply } from 'fastify';
import { renderResult } from '#api/runs/pages/run/outputs.ts';
import { renderOutputs, renderVariables } from '#api/runs/pages/run/values.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { copyScript } from '#api/web/components/copied.ts';
import { renderFacts } from '#api/web/components/facts.ts';
import { groupWordOf, lookOfRun } from '#api/web/components/status.ts';
import { renderPager } from '#api/web/components/table.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLive, renderStatic } from '#api/web/live/live.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { NodeStatus } from '#domain/assemblies/model.ts';
import { listRunsOfNodes } from '#domain/assemblies/runs/node-runs-store.ts';
import { findAssemblyRun } from '#domain/news/assembly-run-facts.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { nodeStatusLooks } from '../../graph/node-looks.ts';
import { drawRun } from '../../graph/run-graph.ts';
import { list as listNodes } from '../../node-operations.ts';
import { get as getAssembly } from '../../operations.ts';
import { getRun } from '../../run-operations.ts';
import { evaluatorOf, graphScript, renderGraph } from '../graph-view.ts';
import { type AssemblyRunVisit, operationWords, type ShownAssemblyRun } from '../views.ts';
import { eventsTab } from './events-tab.ts';
import { renderHead } from './head.ts';
import { renderRunNodes } from './node-table.ts';
import { type AssemblyRunTab, type RunSubject, runPath } from './run-tab.ts';
import { renderSituation } from './situation.ts';

/** The variables and outputs of the run, and its request. */
const valuesTab: AssemblyRunTab = {
  key: 'details',
  label: 'Details',
  scripts: [copyScript],
  async render(_visit, { run }) {
    const history = pagePath(pages.audit, {}, { resource_type: 'assembly_runs', resource_id: run.id });
    return html`<div class="run-details">
${section('Outputs', renderOutputs(run.outputs))}
${section('Variables', renderVariables(run.variables))}
${section(
  'Request',
  renderFacts([
    ['Requested by', html`<span class="foreign">${run.requested_by.name}</span>`],
    ['Message', run.message ? html`<span class="foreign">${run.message}</span>` : null],
    ['Only', run.only && html`<span class="foreign mono">${run.only.join(', ')}</span>`],
    ['Parallel nodes', `${run.concurrency} nodes`],
    ['Created', renderTime(run.created_at)],
    ['Started', run.started_at && renderTime(run.started_at)],
    ['Finished', run.finished_at && renderTime(run.finished_at)],
    ['History', html`<a href="${history}">Show the audit records of this run</a>`],
    ['Run', html`<code>${run.id}</code>`],
    ['Idempotency key', html`<code>${run.idempotency_key}</code>`],
  ]),
)}
</div>`;
  },
};

function section(title: string, content: Html): Html {
  const id = `details-${title.toLowerCase()}`;
  return html`<section class="panel run-section" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${content}</section>`;
}

/** The graph beside a table with the same facts, and why each node waits or ended. */
const nodesTab: AssemblyRunTab = {
  key: 'nodes',
  label: 'Nodes',
  async render(visit, { run }) {
    const cursor = visit.query('cursor');
    const status = visit.query('status');
    const [{ nodes, next_cursor: next }, picture] = await Promise.all([
      visit.read(listNodes, { params: visit.params, query: { limit: '100', cursor, status } }),
      // The visitor may see the run, because reading it has succeeded.
      drawRun(evaluatorOf(visit), visit.em, run.id),
    ]);
    const names = await readNames(visit.em, { templates: nodes.map(({ template_id: id }) => id) });
    const runs = await listRunsOfNodes(visit.em, run.id);
    return html`<div class="graph-beside">
<section class="panel graph-panel" aria-label="Drawing">${renderGraph(picture)}</section>
<div><section class="list-panel graph-table" aria-label="Nodes of the run" tabindex="0">${status ? renderFilter(run, status) : null}${renderRunNodes(nodes, { names, runs })}</section>
${renderPager({
  first: cursor ? runPath(run, { tab: 'nodes', status }) : null,
  next: next ? runPath(run, { tab: 'nodes', status, cursor: next }) : null,
})}</div>
</div>`;
  },
};

/** Says that only nodes with one status are shown, with a link to all. If no node has this status any longer, there are no rows. */
function renderFilter(run: ShownAssemblyRun, status: string): Html {
  const word = Object.hasOwn(nodeStatusLooks, status)
    ? groupWordOf(nodeStatusLooks[status as NodeStatus]).toLowerCase()
    : status;
  return html`<p class="node-filter">Only nodes with the status <strong>${word}</strong>. <a href="${runPath(run, { tab: 'nodes' })}">Show all nodes</a></p>`;
}

const tabs: readonly [AssemblyRunTab, ...AssemblyRunTab[]] = [nodesTab, valuesTab, eventsTab];

/** Shows an assembly run, and follows it. */
export async function showAssemblyRun(visit: AssemblyRunVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const [assembly, run] = await Promise.all([
    visit.read(getAssembly, { params: { id } }),
    visit.read(getRun, { params: visit.params }),
  ]);
  const names = await readNames(visit.em, { environments: [run.environment_id], teams: [run.team_id] });
  const subject = { run, assembly, names };
  const tab = tabs.find(({ key }) => key === visit.query('tab')) ?? tabs[0];
  const [situation, content] = await Promise.all([renderSituation(visit, subject), tab.render(visit, subject)]);
  const title = titleOf(subject);
  return visit.show({
    title,
    tabStatus: lookOfRun(run).word,
    scripts: [...new Set([graphScript, copyScript, ...(tab.scripts ?? [])])],
    main: html`<div class="page page-wide">
${renderConfirmation(visit, pages.assemblyRun)}
${renderLivePart(visit, run, tab, html`${renderHead(title, subject)}${situation}${tab.key === valuesTab.key ? null : renderResult(run, runPath(run, { tab: valuesTab.key }))}${renderTabLinks(run, tab)}${content}`)}
</div>`,
  });
}

/** Redirects from an address with only the id of an assembly run to its page. Visitors who may not read the run learn nothing about it. */
export async function redirectToAssemblyRun(visit: Visit<{ readonly id: string }>): Promise<FastifyReply> {
  const { id: runID } = visit.params;
  const found = await findAssemblyRun(visit.em, runID);
  if (!found) throw new NotFound('assembly run');
  const params = { id: found.assemblyId, runID };
  await visit.read(getRun, { params });
  return visit.redirect(pagePath(pages.assemblyRun, params));
}

function titleOf({ run, assembly }: RunSubject): string {
  return `${operationWords[run.operation]}: ${assembly.name}`;
}

function renderTabLinks(run: ShownAssemblyRun, current: AssemblyRunTab): Html {
  return renderTabs(
    'Parts of the run',
    tabs.map(({ key, label }) => ({ label, path: runPath(run, { tab: key }), isCurrent: key === current.key })),
  );
}

/** A run that has ended changes only if somebody resumes it, so its page is not updated. */
function renderLivePart(visit: AssemblyRunVisit, run: ShownAssemblyRun, tab: AssemblyRunTab, content: Html): Html {
  if (isTerminal(run.status)) return renderStatic(content);
  const { assembly_id: id, id: runID, revision } = run;
  return renderLive(
    {
      stream: pagePath(pages.assemblyRunChanges, { id, runID }, { revision: String(revision) }),
      address: runPath(run, { tab: tab.key, status: visit.query('status'), cursor: visit.query('cursor') }),
      again: '20s',
    },
    content,
  );
}
