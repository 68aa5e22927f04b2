import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import { dropWork, type PlannedWork, planWork } from '#domain/shared/schedules/scheduled-work.ts';
import type { DriftMonitor } from '../entity.ts';

/** Part of the names of schedules in the engine; it never changes. */
export const monitorWorkKind = 'drift_monitor';

/**
 * The random delay of scans, in seconds. Intervals already start at a different time for each monitor. A cron expression gives many
 * monitors the same times, so these are spread more.
 */
const jitterSeconds = { every: 60, cron: 300 };

export function toPlannedWork({
  id,
  schedule,
  enabled,
}: {
  readonly id: string;
  readonly schedule: ScheduleSpec;
  readonly enabled: boolean;
}): PlannedWork {
  const jitter = 'every' in schedule ? jitterSeconds.every : jitterSeconds.cron;
  return { id, spec: schedule, jitterSeconds: jitter, isPaused: !enabled };
}

/**
 * Notifies the engine, after the commit, of the times at which a monitor scans. Only monitors of instances scan. The caller has created or
 * locked the row.
 */
export function scheduleMonitor(tx: Transaction, monitor: DriftMonitor): void {
  if (monitor.scope === 'instance') planWork(tx, monitorWorkKind, toPlannedWork(monitor));
}

/** Makes the engine forget the schedule of a monitor after the commit. */
export function unscheduleMonitor(tx: Transaction, id: string): void {
  dropWork(tx, monitorWorkKind, id);
}
