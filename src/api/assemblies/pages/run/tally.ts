import { renderStatusBadge } from '#api/web/components/status.ts';
import { type Html, html } from '#api/web/html.ts';
import type { NodeStatus } from '#domain/assemblies/model.ts';
import { countStatuses, nodeStatusLooks } from '../../graph/node-looks.ts';

/** How many nodes have each status, such as "2 Failed". @param only the statuses that are counted; all unless given */
export function renderTally(statuses: readonly NodeStatus[], only?: readonly NodeStatus[]): Html {
  const counts = countStatuses(statuses).filter(({ status }) => only === undefined || only.includes(status));
  return html`<span class="node-tally">${counts.map(({ status, count }) => {
    const look = nodeStatusLooks[status];
    return html`${renderStatusBadge({ ...look, word: `${count} ${look.word.toLowerCase()}` })} `;
  })}</span>`;
}

/** The status of a node, as shape, word and colour. */
export function renderNodeStatus(status: NodeStatus): Html {
  return renderStatusBadge(nodeStatusLooks[status]);
}
