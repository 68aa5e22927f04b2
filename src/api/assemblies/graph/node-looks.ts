import type { IconName } from '#api/web/components/icon.ts';
import type { NodeStatus } from '#domain/assemblies/model.ts';

interface NodeStatusLook {
  readonly word: string;
  readonly icon: IconName;
  /** The tone is a colour of the tokens, `--status-<tone>`. */
  readonly tone: string;
}

/** Every status of a node has a word, a shape and a colour, as those of runs have. */
export const nodeStatusLooks: Readonly<Record<NodeStatus, NodeStatusLook>> = {
  pending: { word: 'Pending', icon: 'circle-dashed', tone: 'queued' },
  waiting: { word: 'Waiting', icon: 'clock', tone: 'queued' },
  running: { word: 'Running', icon: 'loader-circle', tone: 'running' },
  pending_approval: { word: 'Needs approval', icon: 'hand', tone: 'approval' },
  canceling: { word: 'Canceling', icon: 'circle-stop', tone: 'canceling' },
  succeeded: { word: 'Succeeded', icon: 'circle-check', tone: 'succeeded' },
  failed: { word: 'Failed', icon: 'octagon-x', tone: 'failed' },
  skipped: { word: 'Skipped', icon: 'skip-forward', tone: 'canceled' },
  canceled: { word: 'Canceled', icon: 'ban', tone: 'canceled' },
  timed_out: { word: 'Timed out', icon: 'hourglass', tone: 'timed-out' },
};

/** A node whose plan was rejected ends canceled, and people look for the decision. */
export function lookOfNode({
  status,
  reason,
}: {
  readonly status: NodeStatus;
  readonly reason: { readonly code: string } | null;
}): NodeStatusLook {
  const look = nodeStatusLooks[status];
  return reason?.code === 'run_rejected' ? { ...look, word: 'Rejected', icon: 'x' } : look;
}

/** Which states people look for first, for counts and for what stands for several nodes. */
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
