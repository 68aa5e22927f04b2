import { groupWordOf, renderStatusBadge } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import type { LocalPath } from '#api/web/paths.ts';
import type { NodeStatus } from '#domain/assemblies/model.ts';
import { countStatuses, lookOfNode, nodeStatusLooks } from '../../graph/node-looks.ts';

interface TallyOptions {
  /** The statuses to count; all by default. */
  readonly only?: readonly NodeStatus[];
  /** The address that lists the nodes of a status. */
  readonly pathOf?: (status: NodeStatus) => LocalPath;
}

/** How many nodes have each status, such as "2 Failed". */
export function renderTally(statuses: readonly NodeStatus[], { only, pathOf }: TallyOptions = {}): Html {
  const counts = countStatuses(statuses).filter(({ status }) => only === undefined || only.includes(status));
  return html`<span class="node-tally">${counts.map(({ status, count }) => {
    const look = nodeStatusLooks[status];
    const badge = renderStatusBadge({ ...look, word: `${count} ${groupWordOf(look).toLowerCase()}` });
    return html`${pathOf ? html`<a class="node-count" href="${pathOf(status)}">${badge}</a>` : badge} `;
  })}</span>`;
}

/** The status of a node, as icon, word and colour. */
export function renderNodeStatus(node: Parameters<typeof lookOfNode>[0]): Html {
  return renderStatusBadge(lookOfNode(node));
}
