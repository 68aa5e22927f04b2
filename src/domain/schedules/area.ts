import { ScheduleFiringSchema, ScheduleSchema } from './entity.ts';
import { scheduleEvents } from './events.ts';
import { scheduleKinds } from './ownership.ts';

export const entities = [ScheduleSchema, ScheduleFiringSchema] as const;
export const ownership = scheduleKinds;
export const events = scheduleEvents;
