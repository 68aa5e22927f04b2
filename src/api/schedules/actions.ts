import { actionsOf } from '#api/pipeline/actions.ts';
import type { ScheduleTarget } from '#domain/schedules/store.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';

/** What a caller may do with a schedule. A start also requires that the environment of the work is not archived. */
export const scheduleActions = actionsOf<ScheduleTarget>()({
  update: { operation: 'schedules.update', findRefusal: findArchivedRefusal },
  trigger: {
    operation: 'schedules.trigger',
    findRefusal: ({ archivedForWork: archived }) => findArchivedRefusal({ archived }),
  },
  delete: { operation: 'schedules.delete' },
});
