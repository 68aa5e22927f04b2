import type { Feature } from '#domain/shared/features/feature.ts';
import { scheduleCandidates } from './candidates-store.ts';
import { ScheduleFiringSchema, ScheduleSchema } from './entity.ts';
import { scheduleEvents } from './events.ts';
import { scheduleKinds } from './ownership.ts';
import { scheduleSeals } from './sealed.ts';

export const entities = [ScheduleSchema, ScheduleFiringSchema] as const;
export const ownership = scheduleKinds;
export const events = scheduleEvents;

export const features = {
  schedules: {
    title: 'Schedules',
    operations: ['schedules'],
    searched: ['schedule'],
  },
} as const satisfies Record<string, Feature>;

export const sealed = scheduleSeals;

export const errorCodes = {
  schedule_work_unknown:
    'The template, assembly or environment of the work does not exist, or belongs to another team.',
  schedule_not_saved:
    'A transfer brought the schedule to another owner, or the authority under which its work starts has ended. Its work must be saved before it is resumed.',
} as const;
export const searched = { schedule: scheduleCandidates };
