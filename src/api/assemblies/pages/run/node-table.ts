import { renderPlanCounts } from '#api/runs/pages/plan/counts.ts';
import { planPath } from '#api/runs/pages/plan/plan-address.ts';
import { renderShortDetail } from '#api/runs/pages/run/status-detail.ts';
import { type Column, renderTable } from '#api/web/components/table.ts';
import { renderDuration, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { renderKeys, rowIdOf } from '../assembly/node-table.ts';
import type { ShownNode } from '../views.ts';
import { renderNodeStatus } from './tally.ts';

type Waiting = NonNullable<ShownNode['waiting_on']>;

/** What a node waits for, in words and with links; null if it does not wait. @param shown the nodes that have rows */
function describeNodeWaiting(node: ShownNode, shown: ReadonlySet<string>): Html | null {
  const { waiting_on: waiting } = node;
  return waiting && html`waits for ${words[waiting.code](waiting, node, shown)}`;
}

type Words = (waiting: Waiting, node: ShownNode, shown: ReadonlySet<string>) => Html | string | null;

const words: Readonly<Record<Waiting['code'], Words>> = {
  dependencies: ({ nodes }, _node, shown) => renderKeys(nodes ?? [], shown) ?? 'other nodes',
  concurrency: () => 'a free place: the assembly limits how many nodes run at once',
  retry: ({ until }) => (until ? html`its next try, ${renderTime(until)}` : 'its next try'),
  admission: ({ until, blocker }) => {
    const quota = findQuota(blocker);
    const what = quota ? `room in the queue: ${describeQuota(quota)}` : 'its admission';
    return until ? html`${what}; it is tried again ${renderTime(until)}` : `${what}; it is tried again`;
  },
  engine: () => 'the workflow engine',
  instance_busy: ({ blocker }) =>
    typeof blocker === 'string'
      ? html`<a href="${pagePath(pages.run, { id: blocker })}">another run</a> of its instance`
      : 'another run of its instance',
  quota: ({ blocker }) => {
    const quota = findQuota(blocker);
    return quota ? `a place: ${describeQuota(quota)}` : 'a place: a quota is full';
  },
  pool_share: () => 'a share of its pool: its team or its requester has all the slots that one of them may have',
  no_worker: () => html`<a href="${pages.workers}">a worker</a>`,
  approval: (_waiting, { run_id: runId }) =>
    runId === null ? 'approval' : html`<a href="${planPath(runId)}">approval of its plan</a>`,
  paused: () => 'the end of a pause of all applies',
  locked: () => 'the lock of its environment',
  frozen: () => 'the end of a freeze window',
};

type FullQuota = Extract<Waiting['blocker'], { scope: string }>;

function findQuota(blocker: Waiting['blocker']): FullQuota | null {
  return blocker !== null && typeof blocker === 'object' && 'scope' in blocker ? blocker : null;
}

function describeQuota({ scope, limit, used }: FullQuota): string {
  const amount = limit === null ? 'cannot be read' : `is full${used === null ? '' : ` (${used} of ${limit})`}`;
  return `the quota of the ${scope} ${amount}`;
}

interface KnownOfNodes {
  /** The names of their templates. */
  readonly names: Names;
  /** Their runs by key, oldest first. */
  readonly runs: ReadonlyMap<string, readonly string[]>;
}

/** The nodes of a run. Each follows the nodes that it waits for. The first link of a row leads to the node's run. */
export function renderRunNodes(nodes: readonly ShownNode[], known: KnownOfNodes): Html {
  return renderTable({
    caption: 'Nodes, each after the nodes that it depends on',
    rows: nodes,
    rowId: ({ key }) => rowIdOf(key),
    columns: columnsWith(known, new Set(nodes.map(({ key }) => key))),
  });
}

function columnsWith({ names, runs }: KnownOfNodes, shown: ReadonlySet<string>): Column<ShownNode>[] {
  return [
    { label: 'Node', kind: 'main', cell: renderNode },
    { label: 'Status', cell: (node) => html`${renderNodeStatus(node)}${renderWhy(node, shown)}` },
    { label: 'Plan', cell: renderPlan },
    {
      label: 'Template',
      cell: ({ template_id: id, template_version: version }) =>
        html`<a href="${pagePath(pages.templateVersion, { id, version })}"><span class="foreign">${names.get(id)?.name ?? 'deleted'}</span> <span class="muted foreign">${version}</span></a>`,
    },
    { label: 'Depends on', kind: 'minor', cell: ({ waits_for: keys }) => renderKeys(keys, shown) },
    { label: 'Attempts', kind: 'number', cell: (node) => renderAttempts(node, runs.get(node.key) ?? []) },
    { label: 'Duration', kind: 'number', cell: renderDuration },
  ];
}

/** How many runs the node has had, including those before the assembly run was resumed, with links to all but the latest. */
function renderAttempts({ key, attempts, run_id: latest }: ShownNode, runs: readonly string[]): Html | string | null {
  const count = Math.max(attempts, runs.length);
  if (count === 0) return null;
  const earlier = runs.filter((id) => id !== latest);
  if (earlier.length === 0) return String(count);
  const links = earlier.map(
    (id, index) =>
      html`<a href="${pagePath(pages.run, { id })}"><span class="unseen">Attempt </span>${index + 1}<span class="unseen"> of ${key}</span></a>`,
  );
  return html`${count} <span class="muted">(earlier: ${links.map((link, index) => html`${index > 0 ? ', ' : null}${link}`)})</span>`;
}

/** The node's key, as a link to its run, or to the plan if that needs an approval; and the instance, if its name differs. */
function renderNode({ key, run_id: runId, status, instance, instance_id: instanceId }: ShownNode): Html {
  const path =
    runId === null ? null : status === 'pending_approval' ? planPath(runId) : pagePath(pages.run, { id: runId });
  const name = path
    ? html`<a class="mono foreign node-key" href="${path}">${key}</a>`
    : html`<strong class="mono foreign node-key">${key}</strong>`;
  if (instance === key) return name;
  const shown = instanceId
    ? html`<a class="foreign" href="${pagePath(pages.instance, { id: instanceId })}">${instance}</a>`
    : html`<span class="foreign">${instance}</span>`;
  return html`${name}<span class="node-instance muted">${shown}</span>`;
}

/** What the plan of the node's run would change. Previews have one too. */
function renderPlan({ plan }: ShownNode): Html | null {
  return plan && renderPlanCounts(plan.summary);
}

/** Why the node waits, or why it ended in this way. A run that failed also has a log. */
function renderWhy(node: ShownNode, shown: ReadonlySet<string>): Html | null {
  const waiting = describeNodeWaiting(node, shown);
  if (waiting) return html`<p class="node-why">${waiting}</p>`;
  const { key, reason, run_id: runId, status, status_detail: detail } = node;
  if (reason === null) return null;
  const log =
    runId !== null && (status === 'failed' || status === 'timed_out')
      ? html` <a href="${pagePath(pages.run, { id: runId }, { tab: 'log' })}">Log<span class="unseen"> of ${key}</span></a>`
      : null;
  return html`<p class="node-why">${detail ? renderShortDetail(detail) : html`<span class="foreign">${toSentence(reason.message)}</span>`}${log}</p>`;
}
