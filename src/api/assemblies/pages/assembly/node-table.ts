import { renderIcon } from '#api/web/components/icon.ts';
import { type Column, renderTable } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Graph } from '#domain/assemblies/drawing/drawing.ts';
import { readableNodes } from '#domain/assemblies/spec/draft-nodes.ts';
import { topologicalOrder } from '#domain/assemblies/spec/graph.ts';
import { type AssemblyNodeSpec, instanceOf } from '#domain/assemblies/spec/spec.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Names } from '#domain/tenancy/names.ts';
import type { ShownVersion } from '../views.ts';

interface Row {
  readonly key: string;
  readonly node: AssemblyNodeSpec;
  readonly waitsFor: readonly string[];
}

/** The nodes of a version: what each deploys, which nodes it waits for, and under which conditions. */
export function renderNodeTable(version: ShownVersion, edges: Graph['edges'], names: Names): Html {
  const before = Map.groupBy(edges, ([, to]) => to);
  const waitsFor = (key: string) => (before.get(key) ?? []).map(([from]) => from);
  const nodes = readableNodes(version.spec as JsonValue);
  const order = topologicalOrder(new Map(Object.keys(nodes).map((key) => [key, new Set(waitsFor(key))])));
  const rows = order.flatMap((key): Row[] => {
    const node = nodes[key];
    return node ? [{ key, node, waitsFor: waitsFor(key) }] : [];
  });
  return renderTable({
    caption: 'Nodes',
    rows,
    rowId: ({ key }) => rowIdOf(key),
    columns: columnsWith(version, names),
  });
}

/** The id of a node's row, for links from a drawing on the same page. */
export function rowIdOf(key: string): string {
  return `node-${key}`;
}

function columnsWith({ templates }: ShownVersion, names: Names): Column<Row>[] {
  return [
    { label: 'Node', kind: 'main', cell: ({ key }) => html`<strong class="mono foreign node-key">${key}</strong>` },
    {
      label: 'Template',
      cell: ({ key, node }) => {
        const chosen = templates[key];
        if (!chosen) return html`<span class="foreign">${node.template}</span>`;
        const { template_id: id, version } = chosen;
        return html`<a href="${pagePath(pages.templateVersion, { id, version })}"><span class="foreign">${names.get(id)?.name ?? 'deleted'}</span> <span class="muted foreign">${version}</span></a>`;
      },
    },
    { label: 'Instance', cell: ({ key, node }) => html`<span class="foreign">${instanceOf(key, node)}</span>` },
    { label: 'Depends on', cell: ({ waitsFor }) => renderKeys(waitsFor) },
    {
      label: 'Only if',
      cell: ({ node: { when } }) => (when === undefined ? null : html`<code class="foreign">${when}</code>`),
    },
    { label: 'Approval', cell: ({ node: { approval } }) => (approval === undefined ? null : renderApproval(approval)) },
  ];
}

const maxKeys = 6;

/** The keys of nodes, as links to their rows. @param shown the nodes that have rows; all by default */
export function renderKeys(keys: readonly string[], shown?: ReadonlySet<string>): Html | null {
  if (keys.length === 0) return null;
  const rest = keys.length - maxKeys;
  return html`${keys
    .slice(0, maxKeys)
    .map(
      (key, index) =>
        html`${index > 0 ? ', ' : ''}${shown?.has(key) === false ? html`<span class="foreign">${key}</span>` : html`<a class="foreign" href="#${rowIdOf(key)}">${key}</a>`}`,
    )}${rest > 0 ? html` <span class="muted" title="${keys.join(', ')}">and ${rest} more</span>` : null}`;
}

function renderApproval({ required, when, allow_self: own }: NonNullable<AssemblyNodeSpec['approval']>): Html {
  const occasion = when === 'always' ? '' : `, ${when}`;
  return html`<span class="run-brief-item">${renderIcon('hand')}${required}${occasion}</span>${own ? html` <span class="muted">by requesters too</span>` : null}`;
}
