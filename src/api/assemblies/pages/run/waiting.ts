import { planPath } from '#api/runs/pages/plan/plan-address.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { renderKeys } from '../assembly/node-table.ts';
import type { ShownNode } from '../shown.ts';

type Waiting = NonNullable<ShownNode['waiting_on']>;

/** What a node waits for, in words and with links; null if it does not wait. @param shown the nodes that have rows */
export function describeNodeWaiting(node: ShownNode, shown: ReadonlySet<string>): Html | null {
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
