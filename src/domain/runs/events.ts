import type { Em } from '#domain/shared/database.ts';
import type { JsonValue } from './model.ts';

/** What a run's story is told in. Stable words. */
export type RunEventType =
  | 'run.admitted'
  | 'run.planning'
  | 'run.planned'
  | 'run.approval_required'
  | 'run.approval_requested'
  | 'run.reviewed'
  | 'run.applying'
  | 'run.attempt_lost'
  | 'run.state_recovered'
  | 'run.cancel_requested'
  | 'run.finished'
  | 'run.requeued'
  | 'run.deleted';

/** Adds to a run's story. The caller holds the run's row, so the numbers have no gaps and no doubles. */
export async function recordEvent(
  em: Em,
  runId: string,
  type: RunEventType,
  data: Record<string, JsonValue> = {},
): Promise<void> {
  await em.execute(
    `insert into run_events (run_id, sequence, type, data, created_at)
     select ?, coalesce(max(sequence), 0) + 1, ?, ?, clock_timestamp() from run_events where run_id = ?`,
    [runId, type, JSON.stringify(data), runId],
  );
}
