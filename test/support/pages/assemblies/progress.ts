import type { NodeReasonCode, NodeStatus, NodeWaiting } from '#domain/assemblies/model.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { TestApi } from '../../api/in-process-api.ts';

/** How far a node has come. */
export interface NodeProgress {
  readonly status: NodeStatus;
  readonly reason?: { readonly code: NodeReasonCode; readonly message: string };
  readonly waiting?: Omit<NodeWaiting, 'since'>;
  /** A run of the installation that stands for the node's run. */
  readonly runId?: string;
  readonly attempts?: number;
  /** How long it ran, in seconds. */
  readonly took?: number;
}

export interface RunProgress {
  readonly status: RunStatus;
  readonly reason?: string;
  readonly minutesAgo: number;
  readonly nodes: (key: string, position: number) => NodeProgress;
  readonly outputs?: object;
}

/** Tells how far an assembly run has come, as its workflow would. */
export async function setProgress(api: TestApi, runId: string, progress: RunProgress): Promise<void> {
  const { status, reason = null, minutesAgo, outputs = {} } = progress;
  const begun = new Date(Date.now() - minutesAgo * 60_000);
  const hasEnded = ['succeeded', 'failed', 'canceled', 'timed_out'].includes(status);
  const end = hasEnded ? new Date(begun.getTime() + 14 * 60_000).toISOString() : null;
  await api.rows(
    `update assembly_runs set status = ?, status_reason = ?, created_at = ?, started_at = ?, finished_at = ?, outputs = ?::jsonb where id = ?`,
    [status, reason, begun.toISOString(), begun.toISOString(), end, JSON.stringify(outputs), runId],
  );
  const nodes = await api.rows<{ id: string; key: string; position: number }>(
    'select id, key, position from assembly_nodes where assembly_run_id = ? order by position',
    [runId],
  );
  for (const { id, key, position } of nodes) await setNode(api, id, begun, progress.nodes(key, position));
}

async function setNode(api: TestApi, id: string, begun: Date, progress: NodeProgress): Promise<void> {
  const { status, reason = null, waiting = null, runId = null, attempts = runId ? 1 : 0, took } = progress;
  const started = ['pending', 'waiting', 'skipped'].includes(status) ? null : begun.toISOString();
  const ended = ['succeeded', 'failed', 'skipped', 'canceled', 'timed_out'].includes(status);
  const finished = ended ? new Date(begun.getTime() + (took ?? 60) * 1000).toISOString() : null;
  const since = waiting && { ...waiting, since: begun.toISOString() };
  await api.rows(
    `update assembly_nodes set status = ?, reason = ?::jsonb, waiting = ?::jsonb, run_id = ?, attempts = ?, started_at = ?, finished_at = ? where id = ?`,
    [
      status,
      reason && JSON.stringify(reason),
      since && JSON.stringify(since),
      runId,
      String(attempts),
      started,
      finished,
      id,
    ] as string[],
  );
}
