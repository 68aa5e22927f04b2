import type { ScheduledWork, ScheduledWorkDeps } from '#domain/shared/schedules/scheduled-work.ts';
import type { ScheduledWorkActivities } from './scheduled-work.contract.ts';

export function createScheduledWorkActivities(
  deps: ScheduledWorkDeps,
  works: readonly ScheduledWork[],
): ScheduledWorkActivities {
  return {
    triggerScheduledWork: async ({ kind, id, scheduledAt }) => {
      const work = works.find((one) => one.kind === kind);
      // Another release of the service knows this kind: a worker of that release may get the next attempt.
      if (!work) throw new Error(`this worker knows no scheduled work of the kind "${kind}"`);
      await work.trigger(deps, id, new Date(scheduledAt));
    },
  };
}
