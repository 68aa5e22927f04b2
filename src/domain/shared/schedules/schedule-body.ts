import { z } from 'zod';
import { describeDuration, durationBetween, formatDuration } from '../values/durations.ts';
import { TimeZone } from '../values/times.ts';
import { InvalidCron, maxCronLength, parseCron } from './cron.ts';
import { nextTimes, shortestGap } from './next-times.ts';

/** Runs take minutes: work that starts more often would mostly be skipped. */
const minSeconds = 5 * 60;
const maxSeconds = 365 * 24 * 60 * 60;

const Interval = z.strictObject({ every: durationBetween(minSeconds, maxSeconds) }).meta({ id: 'IntervalSchedule' });

const Cron = z
  .strictObject({
    cron: z
      .string()
      .max(maxCronLength)
      .overwrite((cron) => cron.trim().split(/\s+/).join(' '))
      .superRefine((cron, context) => {
        const message = findProblem(cron);
        if (message !== null) context.addIssue({ code: 'custom', message });
      })
      .meta({ example: '0 18 * * MON-FRI' })
      .describe('Minute, hour, day of the month, month and day of the week.'),
    timezone: TimeZone.default('UTC').describe('By whose clocks: a time zone of the IANA database.'),
  })
  .meta({ id: 'CronSchedule' });

/** The schedule of a request. */
export const ScheduleBody = z.union([Interval, Cron]).meta({ id: 'ScheduleTimes' });

/** What is wrong with a cron expression, and what would be right; null if it is valid. */
function findProblem(cron: string): string | null {
  try {
    parseCron(cron);
  } catch (error) {
    if (error instanceof InvalidCron) return error.message;
    throw error;
  }
  const spec = { cron, timezone: 'UTC' };
  const gap = shortestGap(spec);
  if (gap < minSeconds) {
    const min = `at least ${describeDuration(minSeconds)} (${formatDuration(minSeconds)})`;
    return `names times that are ${describeDuration(gap)} apart: expected ${min} between two times`;
  }
  if (nextTimes(spec, '', new Date(), 1).length === 0) return 'names a day that never comes: expected one that exists';
  return null;
}
