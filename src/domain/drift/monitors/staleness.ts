import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import { nextTimes } from '#domain/shared/schedules/next-times.ts';
import type { MonitorScope } from '../model.ts';

/** How many times of a monitor may pass without a successful scan. Runs may come in the way of one or two. */
const maxMissed = 3;

export interface ScanHistory {
  readonly id: string;
  readonly scope: MonitorScope;
  readonly schedule: ScheduleSpec;
  readonly enabled: boolean;
  /** Its instance holds resources, so that there is something to scan. */
  readonly hasResources: boolean;
  readonly createdAt: string;
  readonly lastSuccessAt: string | null;
}

/**
 * Whether what a monitor says is out of date: three of its times have passed without a successful scan. Scans that always give way to runs are no
 * failures, so nothing else would show that nobody looks any more.
 */
export function isStale(monitor: ScanHistory, now = new Date()): boolean {
  const { id, scope, schedule, enabled, hasResources, createdAt, lastSuccessAt } = monitor;
  if (scope !== 'instance' || !enabled || !hasResources) return false;
  const times = nextTimes(schedule, id, new Date(lastSuccessAt ?? createdAt), maxMissed + 1);
  const last = times[maxMissed];
  return last !== undefined && last < now;
}
