import type { Em } from '#database/database.ts';
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
  | 'run.state_refused'
  | 'run.not_contained'
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

/** The same, unless the run's story has an event of that type with all of `key` already. Answers whether it was added. */
export async function recordEventOnce(
  em: Em,
  runId: string,
  type: RunEventType,
  key: Record<string, JsonValue>,
  more: Record<string, JsonValue> = {},
): Promise<boolean> {
  const told = await em.execute<unknown[]>(
    `select 1 from run_events where run_id = ? and type = ? and data @> ?::jsonb limit 1`,
    [runId, type, JSON.stringify(key)],
  );
  if (told.length > 0) return false;
  await recordEvent(em, runId, type, { ...key, ...more });
  return true;
}
