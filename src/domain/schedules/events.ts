import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { firingReasons } from './model.ts';

const scheduledAt = z.string();
const id = z.string().nullable();
const reason = z.enum(Object.keys(firingReasons) as [keyof typeof firingReasons, ...(keyof typeof firingReasons)[]]);

/** The events at the times of schedules. Clients match the types, so these never change. */
export const scheduleEvents = {
  'schedule.started': {
    subject: 'schedule',
    summary: 'A schedule started a run or an assembly run',
    data: z.strictObject({ scheduled_at: scheduledAt, run_id: id, assembly_run_id: id }),
  },
  'schedule.skipped': {
    subject: 'schedule',
    summary: 'A schedule skipped a time, because what it started before had not ended',
    data: z.strictObject({ scheduled_at: scheduledAt }),
  },
  'schedule.failed': {
    subject: 'schedule',
    summary: 'A schedule could not start its work',
    data: z.strictObject({ scheduled_at: scheduledAt, reason }),
  },
  'schedule.missed': {
    subject: 'schedule',
    summary: 'Times of a schedule passed, and nothing tried to start its work',
    data: z.strictObject({
      scheduled_at: scheduledAt.describe('The first of these times.'),
      last_at: scheduledAt.describe('The last of them.'),
      times: z.int().describe('How many there were.'),
    }),
  },
} as const satisfies Record<string, EventType>;
