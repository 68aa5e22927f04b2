import { renderFacts } from '#api/web/components/facts.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { drawVersion, readGraph } from '../../graph/spec-graph.ts';
import { evaluatorOf, renderGraph } from '../graph-view.ts';
import type { ShownVersion } from '../views.ts';
import { renderNodeTable } from './node-table.ts';

/** The drawing of a version beside the table of its nodes. */
export async function renderVersion(visit: Visit, version: ShownVersion): Promise<Html> {
  const { templates } = version;
  const spec = version.spec as JsonValue;
  const evaluator = evaluatorOf(visit);
  const names = await readNames(visit.em, { templates: Object.values(templates).map(({ template_id: id }) => id) });
  const graph = await readGraph(evaluator, spec, (key) => names.get(templates[key]?.template_id ?? '')?.name);
  return html`<div class="graph-beside">
<section class="panel graph-panel" aria-label="Drawing">${renderGraph(await drawVersion(evaluator, spec, graph))}</section>
<section class="list-panel graph-table" aria-label="Nodes of the assembly" tabindex="0">${renderNodeTable(version, graph.edges, names)}</section>
</div>`;
}

/** Who published a version, when, and what it says about itself. */
export function renderVersionFacts(version: ShownVersion): Html {
  const outputs = Object.entries((version.spec['outputs'] ?? {}) as Record<string, string>);
  return renderFacts([
    ['Published by', html`<span class="foreign">${version.published_by.name}</span>`],
    ['Published', renderTime(version.created_at)],
    ['Changelog', version.changelog ? html`<span class="foreign changelog">${version.changelog}</span>` : null],
    ['Parallel nodes', `${version.spec['concurrency'] ?? 10} nodes`],
    [
      'Outputs',
      outputs.length > 0
        ? html`<ul class="plain-list">${outputs.map(([name, value]) => html`<li class="foreign"><code>${name}</code> = <code>${value}</code></li>`)}</ul>`
        : null,
    ],
    ['Digest', html`<code class="foreign">${version.digest}</code>`],
  ]);
}
