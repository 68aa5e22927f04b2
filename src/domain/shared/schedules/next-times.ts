import { createHash } from 'node:crypto';
import { parseDuration } from '../values/durations.ts';
import { clockTimeAt, timesOf } from '../values/times.ts';
import { type CronFields, parseCron } from './cron.ts';
import type { ScheduleSpec } from './model.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const dayMs = 1440 * minuteMs;
/** How many days ahead to search: February 29 may be eight years away. */
const furthestDays = 9 * 366;

/** The next times of a schedule after `from`, ascending. Fewer than `count` if no more of them come in the next nine years. */
export function nextTimes(spec: ScheduleSpec, id: string, from: Date, count: number): Date[] {
  const times = 'every' in spec ? intervalTimes(spec.every, id, from, count) : cronTimes(spec, from, count);
  return times.map((time) => new Date(time));
}

/** An interval in seconds, and the offset in seconds of its times from the start of 1970. */
export interface Interval {
  readonly everySeconds: number;
  readonly offsetSeconds: number;
}

/** The offset comes from the id, so that schedules with the same interval do not all start at the same time. */
export function intervalOf(every: string, id: string): Interval {
  const everySeconds = parseDuration(every) ?? 0;
  if (everySeconds < 1) throw new Error(`expected an interval of at least a second, and not "${every}"`);
  const spread = createHash('sha256').update(id).digest().readUIntBE(0, 6);
  return { everySeconds, offsetSeconds: spread % everySeconds };
}

function intervalTimes(every: string, id: string, from: Date, count: number): number[] {
  const { everySeconds, offsetSeconds } = intervalOf(every, id);
  const passed = Math.floor((from.getTime() / secondMs - offsetSeconds) / everySeconds);
  return Array.from({ length: count }, (_, index) => ((passed + 1 + index) * everySeconds + offsetSeconds) * secondMs);
}

/**
 * The next times of a cron expression. As in Temporal, which starts the work, a time that clocks skip when they are set forward is left
 * out, and a time that they show twice when they are set back occurs twice.
 */
function cronTimes({ cron, timezone }: { cron: string; timezone: string }, from: Date, count: number): number[] {
  const fields = parseCron(cron);
  const today = Math.floor(clockTimeAt(from.getTime(), timezone) / dayMs) * dayMs;
  const found: number[] = [];
  for (let day = -1; day <= furthestDays && found.length < count; day += 1) {
    const clockDay = today + day * dayMs;
    if (!includesDay(fields, new Date(clockDay))) continue;
    const times = timesOf(clockTimesOf(fields, clockDay), timezone).sort((a, b) => a - b);
    found.push(...times.filter((time) => time > from.getTime()));
  }
  return found.slice(0, count);
}

function includesDay({ dayOfMonth, month, dayOfWeek }: CronFields, day: Date): boolean {
  return (
    month.includes(day.getUTCMonth() + 1) &&
    dayOfMonth.includes(day.getUTCDate()) &&
    dayOfWeek.includes(day.getUTCDay())
  );
}

function clockTimesOf({ hour, minute }: Pick<CronFields, 'hour' | 'minute'>, clockDay: number): number[] {
  return hour.flatMap((hours) => minute.map((minutes) => clockDay + (hours * 60 + minutes) * minuteMs));
}

/** The shortest time between two starts in seconds, ignoring changes of the clocks. */
export function shortestGap(spec: ScheduleSpec): number {
  if ('every' in spec) return parseDuration(spec.every) ?? 0;
  const minutes = clockTimesOf(parseCron(spec.cron), 0).map((time) => time / minuteMs);
  const around = [...minutes, (minutes[0] ?? 0) + 1440];
  return Math.min(...minutes.map((time, index) => (around[index + 1] ?? time) - time)) * 60;
}
