import { parseDuration } from '../values/durations.ts';
import { type CronFields, parseCron } from './cron.ts';
import type { ScheduleSpec } from './model.ts';

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
];
const units = [
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;
/** The maximum number of times of day or days of the month that are listed in words. */
const listedTimes = 4;

/** A schedule in words: `every Monday at 18:00, Europe/Berlin`. If the words would be long, the cron expression replaces them. */
export function describeSchedule(spec: ScheduleSpec): string {
  if ('every' in spec) return `every ${describeInterval(parseDuration(spec.every) ?? 0)}`;
  const fields = parseCron(spec.cron);
  const [days, times] = [describeDays(fields), describeTimes(fields)];
  return `${days && times ? `${days} ${times}` : `at ${spec.cron}`}, ${spec.timezone}`;
}

/** Seconds in the largest unit that fits: `6 hours`, `90 minutes`, and `day` for one day. */
function describeInterval(seconds: number): string {
  const whole = units.find(([, length]) => seconds % length === 0);
  if (!whole) return `${seconds} seconds`;
  const count = seconds / whole[1];
  return count === 1 ? whole[0] : `${count} ${whole[0]}s`;
}

/** The times of day in words; null if the list would be long. */
function describeTimes({ hour, minute }: CronFields): string | null {
  if (hour.length === 24 && minute.length === 1) return `every hour at ${pad(minute[0])} past`;
  const times = hour.flatMap((hours) => minute.map((minutes) => `${pad(hours)}:${pad(minutes)}`));
  return times.length <= listedTimes ? `at ${join(times)}` : null;
}

function describeDays({ dayOfMonth, month, dayOfWeek }: CronFields): string | null {
  const inMonths = month.length === 12 ? '' : ` in ${join(month.map((number) => months[number - 1] ?? ''))}`;
  if (month.length > listedTimes && month.length < 12) return null;
  if (dayOfMonth.length < 31) {
    return dayOfMonth.length <= listedTimes
      ? `on the ${join(dayOfMonth.map(ordinal))}${inMonths || ' of every month'}`
      : null;
  }
  if (dayOfWeek.length === 7) return `every day${inMonths}`;
  if (dayOfWeek.join() === '1,2,3,4,5') return `from Monday to Friday${inMonths}`;
  return `every ${join(dayOfWeek.map((day) => weekdays[day] ?? ''))}${inMonths}`;
}

function ordinal(day: number): string {
  const suffix = day > 10 && day < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][day % 10] ?? 'th');
  return `${day}${suffix}`;
}

function join(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function pad(value: number | undefined): string {
  return String(value ?? 0).padStart(2, '0');
}
