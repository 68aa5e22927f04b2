import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import { nextTimes } from '#domain/shared/schedules/next-times.ts';
import type { MonitorScope } from '../model.ts';

/** How many scheduled times may pass without a successful scan. Runs may prevent one or two scans. */
const maxMissed = 3;

export interface ScanHistory {
  readonly id: string;
  readonly scope: MonitorScope;
  readonly schedule: ScheduleSpec;
  readonly enabled: boolean;
  /** Whether its instance has resources to scan. */
  readonly hasResources: boolean;
  readonly createdAt: string;
  readonly lastSuccessAt: string | null;
}

/**
 * Whether the result of a monitor is out of date: three scheduled times have passed without a successful scan. A scan that a run cancels is
 * not a failure, so nothing else would show that no scan succeeds any longer.
 */
export function isStale(monitor: ScanHistory, now = new Date()): boolean {
  const { id, scope, schedule, enabled, hasResources, createdAt, lastSuccessAt } = monitor;
  if (scope !== 'instance' || !enabled || !hasResources) return false;
  const times = nextTimes(schedule, id, new Date(lastSuccessAt ?? createdAt), maxMissed + 1);
  const last = times[maxMissed];
  return last !== undefined && last < now;
}
