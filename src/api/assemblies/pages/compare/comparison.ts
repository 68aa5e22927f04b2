import { renderIcon } from '#api/web/components/icon.ts';
import { type ChangesView, renderValueChanges } from '#api/web/components/value-change/value-changes.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { AssemblyDiff } from '#domain/assemblies/diff/diff.ts';
import { newEffort } from '#domain/shared/values/comparison/compare.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { getDraft } from '../../draft-operations.ts';
import { drawDiff } from '../../graph/spec-graph.ts';
import { get as getVersion } from '../../version-operations.ts';
import { evaluatorOf, renderGraph } from '../graph-view.ts';
import type { ShownDiff } from '../views.ts';

type NodeChange = ShownDiff['nodes'][number];
type FieldChange = ShownDiff['fields'][number];

const maxNodes = 200;
const maxFields = 60;

/** The differences between two specs, as a drawing and as a list. */
export async function renderComparison(visit: Visit, id: string, compared: ShownDiff): Promise<Html> {
  const { nodes, fields, edges } = compared;
  const isSame = nodes.length + fields.length + edges.added.length + edges.removed.length === 0;
  if (isSame)
    return html`<p class="notice" role="status">No differences: ${sideOf(compared.from)} and ${sideOf(compared.to)} are the same.</p>`;
  const [before, after] = await Promise.all([readSpec(visit, id, compared.from), readSpec(visit, id, compared.to)]);
  const view = {
    maxCharacters: 4_000,
    maxDifferences: maxFields,
    maxUnchanged: 0,
    whole: null,
    effort: newEffort(),
  };
  return html`<h2>${countChanges(nodes)}</h2>
<div class="graph-beside">
<section class="panel graph-panel" aria-label="Drawing">${renderGraph(await drawDiff(evaluatorOf(visit), before, after, toDiff(compared)))}</section>
<section class="panel stack" aria-label="Changes">
${nodes.slice(0, maxNodes).map((node) => renderNode(node, view))}
${nodes.length > maxNodes ? html`<p class="muted">${nodes.length - maxNodes} more nodes differ. The API has all.</p>` : null}
${fields.length > 0 ? html`<details class="plan-change" open><summary>${renderIcon('chevron-right')}<span class="plan-kind">Spec</span> <span class="plan-address">beside the nodes</span></summary><div class="plan-body">${renderFields(fields, view)}</div></details>` : null}
${renderEdges(edges)}
</section></div>`;
}

/** Converts the comparison for the drawing. */
function toDiff({ nodes, fields, edges }: ShownDiff): AssemblyDiff {
  const pairs = (list: readonly { from: string; to: string }[]) => list.map(({ from, to }) => [from, to] as const);
  const known = { nodes, fields } as Pick<AssemblyDiff, 'nodes' | 'fields'>;
  return { ...known, edges: { added: pairs(edges.added), removed: pairs(edges.removed) } };
}

async function readSpec(visit: Visit, id: string, side: string): Promise<{ name: string; spec: JsonValue }> {
  const { spec } =
    side === 'draft'
      ? await visit.read(getDraft, { params: { id } })
      : await visit.read(getVersion, { params: { id, version: side } });
  return { name: side, spec: spec as JsonValue };
}

function sideOf(side: string): string {
  return side === 'draft' ? 'the draft' : `version ${side}`;
}

const kinds = {
  removed: { word: 'Removed', icon: 'minus', kind: 'destroy' },
  changed: { word: 'Changed', icon: 'pencil', kind: 'change' },
  added: { word: 'Added', icon: 'plus', kind: 'add' },
} as const;

function countChanges(nodes: readonly NodeChange[]): string {
  const counts = (['removed', 'changed', 'added'] as const)
    .map((change) => [nodes.filter((node) => node.change === change).length, change] as const)
    .filter(([count]) => count > 0);
  if (counts.length === 0) return 'No nodes differ';
  return `Nodes: ${counts.map(([count, change]) => `${count} ${change}`).join(', ')}`;
}

function renderNode({ key, change, fields }: NodeChange, view: ChangesView): Html {
  const { word, icon, kind } = kinds[change];
  return html`<details class="plan-change kind-${kind}" ${change === 'changed' ? html`open` : null}>
<summary>${renderIcon('chevron-right')}<span class="plan-kind">${renderIcon(icon)}${word}</span> <span class="plan-address foreign">${key}</span></summary>
<div class="plan-body">${renderFields(fields, view)}</div></details>`;
}

function renderFields(fields: readonly FieldChange[], view: ChangesView): Html | null {
  const changes = fields.map(({ path, before, after }) => ({
    kind: before === undefined ? ('added' as const) : after === undefined ? ('removed' as const) : ('changed' as const),
    label: path.replace(/^\//, '').replaceAll('/', ' / '),
    before: before as JsonValue | undefined,
    after: after as JsonValue | undefined,
    sensitive: false,
    truncated: false,
  }));
  return renderValueChanges(changes, view);
}

function renderEdges({ added, removed }: ShownDiff['edges']): Html | null {
  if (added.length + removed.length === 0) return null;
  const list = (edges: readonly { from: string; to: string }[], tag: 'ins' | 'del') =>
    edges.slice(0, maxFields).map(({ from, to }) => {
      const text = html`<span class="foreign">${to}</span> waits for <span class="foreign">${from}</span>`;
      return tag === 'ins' ? html`<li><ins>${text}</ins></li>` : html`<li><del>${text}</del></li>`;
    });
  return html`<details class="plan-change" open><summary>${renderIcon('chevron-right')}<span class="plan-kind">Dependencies</span> <span class="plan-address">what waits for what</span></summary><div class="plan-body"><ul class="plain-list">${list(removed, 'del')}${list(added, 'ins')}</ul></div></details>`;
}
