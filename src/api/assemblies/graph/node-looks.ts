import {
  canceledLook,
  lookOfPending,
  needsApprovalLook,
  rejectedLook,
  type ShownWaiting,
  type StatusLook,
} from '#api/web/components/status.ts';
import { isRejection, type NodeStatus } from '#domain/assemblies/model.ts';

/** Every status of a node has a word, an icon and a colour, like the statuses of runs. */
export const nodeStatusLooks: Readonly<Record<NodeStatus, StatusLook>> = {
  pending: { word: 'Pending', icon: 'circle-dashed', tone: 'queued' },
  waiting: { word: 'Waiting', icon: 'clock', tone: 'queued' },
  running: { word: 'Running', icon: 'loader-circle', tone: 'running' },
  pending_approval: needsApprovalLook,
  canceling: { word: 'Canceling', icon: 'circle-stop', tone: 'canceling' },
  succeeded: { word: 'Succeeded', icon: 'circle-check', tone: 'succeeded' },
  failed: { word: 'Failed', icon: 'octagon-x', tone: 'failed' },
  skipped: { word: 'Skipped', icon: 'skip-forward', tone: 'canceled' },
  canceled: canceledLook,
  timed_out: { word: 'Timed out', icon: 'hourglass', tone: 'timed-out' },
};

export function lookOfNode({
  status,
  reason,
  waiting_on: waiting,
}: {
  readonly status: NodeStatus;
  readonly reason: { readonly code: string } | null;
  readonly waiting_on: ShownWaiting | null;
}): StatusLook {
  if (isRejection(reason?.code)) return rejectedLook;
  return status === 'pending_approval' ? lookOfPending(waiting) : nodeStatusLooks[status];
}

/** The statuses by urgency, for counts, and for shapes that represent several nodes. */
export const byUrgency = [
  'failed',
  'timed_out',
  'pending_approval',
  'canceling',
  'running',
  'waiting',
  'pending',
  'canceled',
  'skipped',
  'succeeded',
] as const satisfies readonly NodeStatus[];

/** How many nodes have each status, the most urgent first: "2 failed, 38 succeeded". */
export function countStatuses(statuses: readonly NodeStatus[]): { status: NodeStatus; count: number }[] {
  return byUrgency
    .map((status) => ({ status, count: statuses.filter((each) => each === status).length }))
    .filter(({ count }) => count > 0);
}
