import { z } from 'zod';
import { humanName } from '#domain/shared/values/human-name.ts';
import { clockTimeAt, TimeInput, TimeZone, timeOf } from '#domain/shared/values/times.ts';

/** The times at which no apply starts in an environment: once, between two times, or every week in a time zone. */

export const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;

const WeeklyMoment = z
  .strictObject({
    day: z.enum(weekdays),
    time: z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: 'expected a time of day such as "16:30"' }),
  })
  .meta({ id: 'WeeklyMoment' });

/** The members are described for clients, since the answer has the same shape. */
const Common = {
  name: humanName(100).describe('Names the window among those of its environment.'),
  reason: z.string().trim().max(1000).default('').describe('Runs that wait show it.'),
};

const Once = z
  .strictObject({ ...Common, starts_at: TimeInput, ends_at: TimeInput })
  .refine(({ starts_at, ends_at }) => Date.parse(starts_at) < Date.parse(ends_at), {
    path: ['ends_at'],
    error: 'expected a time after starts_at',
  })
  .meta({ id: 'OneTimeFreezeWindow' });
const Weekly = z
  .strictObject({
    ...Common,
    weekly: z
      .strictObject({ starts: WeeklyMoment, ends: WeeklyMoment })
      .refine(({ starts, ends }) => starts.day !== ends.day || starts.time !== ends.time, {
        path: ['ends'],
        error: 'expected another time than that at which the window starts',
      }),
    time_zone: TimeZone,
  })
  .meta({ id: 'WeeklyFreezeWindow' });

export const FreezeWindow = z.union([Once, Weekly]).meta({ id: 'FreezeWindow' });
export type FreezeWindow = z.output<typeof FreezeWindow>;

export const FreezeWindows = z
  .array(FreezeWindow)
  .max(50)
  .refine((windows) => new Set(windows.map(({ name }) => name)).size === windows.length, {
    error: 'must not give two windows the same name',
  });

/** A window that freezes an environment now, and when it ends. */
export interface Freeze {
  readonly window: FreezeWindow;
  readonly since: string;
  readonly until: string;
}

/** Of the windows that are open now, the one that ends last; null if none is open. */
export function findFreeze(windows: readonly FreezeWindow[], now: Date): Freeze | null {
  const open = windows.flatMap((window) => {
    const period = 'weekly' in window ? findWeek(window, now.getTime()) : readOnce(window);
    const isOpen = period !== null && period.start <= now.getTime() && now.getTime() < period.end;
    return isOpen ? [{ window, ...period }] : [];
  });
  const [last] = open.sort((a, b) => b.end - a.end);
  if (!last) return null;
  return { window: last.window, since: new Date(last.start).toISOString(), until: new Date(last.end).toISOString() };
}

interface Period {
  readonly start: number;
  readonly end: number;
}

function readOnce({ starts_at: start, ends_at: end }: z.output<typeof Once>): Period {
  return { start: Date.parse(start), end: Date.parse(end) };
}

const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const weekMs = 7 * dayMs;

/**
 * The last week of a window that has started by now. Where clocks are changed, the window is as long as possible: it starts when
 * clocks first show its start, and ends when they last show its end.
 */
function findWeek({ weekly: { starts, ends }, time_zone: zone }: z.output<typeof Weekly>, now: number): Period | null {
  const clock = clockTimeAt(now, zone);
  const sunday = Math.floor(clock / dayMs) * dayMs - new Date(clock).getUTCDay() * dayMs;
  const length = (sinceSunday(ends) - sinceSunday(starts) + weekMs) % weekMs;
  for (const week of [sunday + weekMs, sunday, sunday - weekMs]) {
    const first = week + sinceSunday(starts);
    const period = { start: timeOf(first, zone, 'first'), end: timeOf(first + length, zone, 'last') };
    if (period.start <= now) return period;
  }
  return null;
}

function sinceSunday({ day, time }: z.output<typeof WeeklyMoment>): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return weekdays.indexOf(day) * dayMs + (hours * 60 + minutes) * minuteMs;
}
