import { groupWordOf } from '#api/web/components/status.ts';
import { renderPager } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import type { NodeStatus } from '#domain/assemblies/model.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { nodeStatusLooks } from '../../graph/node-looks.ts';
import { drawRun } from '../../graph/run-graph.ts';
import { list as listNodes } from '../../node-operations.ts';
import { evaluatorOf, renderGraph } from '../graph-view.ts';
import type { ShownAssemblyRun } from '../shown.ts';
import { renderRunNodes } from './node-table.ts';
import { type AssemblyRunTab, runPath } from './run-tab.ts';

/** The graph beside a table that says the same, and why each node waits or ended. */
export const nodesTab: AssemblyRunTab = {
  key: 'nodes',
  label: 'Nodes',
  async render(visit, { run }) {
    const cursor = visit.query('cursor');
    const status = visit.query('status');
    const [{ nodes, next_cursor: next }, picture] = await Promise.all([
      visit.read(listNodes, { params: visit.params, query: { limit: '100', cursor, status } }),
      // Reading the run has shown that the visitor may see it.
      drawRun(evaluatorOf(visit), visit.em, run.id),
    ]);
    const names = await readNames(visit.em, { templates: nodes.map(({ template_id: id }) => id) });
    return html`<div class="graph-beside">
<section class="panel graph-panel" aria-label="Drawing">${renderGraph(picture)}</section>
<div><section class="list-panel graph-table" aria-label="Nodes of the run" tabindex="0">${status ? renderFilter(run, status) : null}${renderRunNodes(nodes, names)}</section>
${renderPager({
  first: cursor ? runPath(run, { tab: 'nodes', status }) : null,
  next: next ? runPath(run, { tab: 'nodes', status, cursor: next }) : null,
})}</div>
</div>`;
  },
};

/** Says that some nodes are left out, and leads to all. A status that nodes no longer have shows no rows. */
function renderFilter(run: ShownAssemblyRun, status: string): Html {
  const word = Object.hasOwn(nodeStatusLooks, status)
    ? groupWordOf(nodeStatusLooks[status as NodeStatus]).toLowerCase()
    : status;
  return html`<p class="node-filter">Only nodes with the status <strong>${word}</strong>. <a href="${runPath(run, { tab: 'nodes' })}">Show all nodes</a></p>`;
}
