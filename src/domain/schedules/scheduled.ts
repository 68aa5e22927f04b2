import { defineScheduledWork } from '#domain/shared/schedules/scheduled-work.ts';
import { scheduleKind } from './model.ts';
import { listPlanned, lockPlanned } from './planned-store.ts';
import { fireSchedule } from './trigger.ts';

/** What schedules of teams start. */
export const scheduleWork = defineScheduledWork({
  kind: scheduleKind,
  listPlanned,
  lockPlanned,
  trigger: fireSchedule,
});
