import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ScheduledWorkActivities } from '#activities/scheduled-work.contract.ts';
import type { ScheduledWorkInput } from './scheduled-work.contract.ts';

const { triggerScheduledWork } = proxyActivities<ScheduledWorkActivities>({
  startToCloseTimeout: '60s',
  retry: { initialInterval: '1s', maximumInterval: '30s' },
});

/** Starts the work of a schedule for one time. The engine starts this workflow at each time, and skips a time while it still runs. */
export async function scheduledWork({ kind, id, scheduled_at: startedAt }: ScheduledWorkInput): Promise<void> {
  await triggerScheduledWork({ kind, id, scheduledAt: startedAt ?? scheduledTime() });
}

/** The time of the schedule, without jitter. Repetitions of a start have the same time. */
function scheduledTime(): string {
  const { searchAttributes, startTime } = workflowInfo();
  const [time] = searchAttributes['TemporalScheduledStartTime'] ?? [];
  return (time instanceof Date ? time : startTime).toISOString();
}
