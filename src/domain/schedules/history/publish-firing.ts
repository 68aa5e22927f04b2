import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { Schedule } from '../entity.ts';
import type { Firing } from './firings-store.ts';

/** Publishes the outcome of a firing. The caller has locked the schedule. */
export function publishFiring(
  tx: Transaction,
  { id: subjectId, teamId }: Pick<Schedule, 'id' | 'teamId'>,
  firing: Omit<Firing, 'scheduleId'>,
): void {
  const { scheduledAt, lastAt, times = 1, outcome, reason = 'internal', runId = null, assemblyRunId = null } = firing;
  const at = { scheduled_at: scheduledAt.toISOString() };
  const about = { subjectId, owners: { teamId } };
  if (outcome === 'started') {
    tx.publish({ type: 'schedule.started', ...about, data: { ...at, run_id: runId, assembly_run_id: assemblyRunId } });
  }
  if (outcome === 'skipped') tx.publish({ type: 'schedule.skipped', ...about, data: at });
  if (outcome === 'missed') {
    const data = { ...at, last_at: (lastAt ?? scheduledAt).toISOString(), times };
    tx.publish({ type: 'schedule.missed', ...about, data });
  }
  if (outcome === 'failed') tx.publish({ type: 'schedule.failed', ...about, data: { ...at, reason } });
}
