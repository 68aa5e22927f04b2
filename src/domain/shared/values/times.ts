import { z } from 'zod';

/**
 * The years 0001 to 9999 of UTC: PostgreSQL has no year 0, and RFC 3339 writes years in four digits. An offset can move a time into another
 * year than the one in its text.
 */
const earliest = Date.parse('0001-01-01T00:00:00.000Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');
const error = 'expected a time in the years 0001 to 9999 of UTC, such as 2026-01-31T09:00:00Z';

function isInYears(text: string): boolean {
  const time = Date.parse(text);
  return time >= earliest && time <= latest;
}

/** A time in a request: RFC 3339, with any offset from UTC. */
export const TimeInput = z.iso.datetime({ offset: true, abort: true }).refine(isInYears, { error });

/** A time in a request, or a day, which means its first moment in UTC. */
export const TimeOrDay = z.iso.datetime({ offset: true }).or(z.iso.date()).refine(isInYears, { error });

/** Whether a text is a time in UTC (`Z`) that PostgreSQL can store. */
export function isStorableTime(text: string): boolean {
  return text.endsWith('Z') && TimeInput.safeParse(text).success;
}

/**
 * A time zone of the IANA database by its name or an alias, which PostgreSQL must know as well. Offsets are refused, because PostgreSQL
 * reads the sign of one such as +03:00 in the opposite direction.
 */
export const TimeZone = z
  .string()
  .max(64, { abort: true })
  .refine(isTimeZone, { error: ({ input }) => noTimeZone(String(input)) });

export function noTimeZone(name: string): string {
  return `there is no time zone "${name}": name one of the IANA database, such as Europe/Berlin or UTC`;
}

/** Results are not cached, because clients choose the names. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Converts between times and the local clock times of time zones, with the time zone database of Intl. */

const minuteMs = 60_000;

/** A local date and time of day, as the milliseconds since 1970 that a clock in UTC would have. */
type ClockTime = number;

const formats = new Map<string, Intl.DateTimeFormat>();
/**
 * The maximum number of cached formats, which exceeds the zones and aliases of the IANA database. Intl ignores case, so clients can name a
 * zone in many ways.
 */
const maxFormats = 1000;

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const two = '2-digit';
  const parts = { year: 'numeric', month: two, day: two, hour: two, minute: two, second: two } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...parts });
  if (formats.size >= maxFormats) formats.clear();
  formats.set(timeZone, format);
  return format;
}

/** What clocks in a time zone show at a time. */
export function clockTimeAt(time: number, timeZone: string): ClockTime {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(time)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/**
 * The time at which clocks in a time zone show a clock time. When clocks are set back, they show it twice: `which` chooses.
 * When clocks are set forward they skip it, and the answer is the time at which they are set forward.
 */
export function timeOf(clockTime: ClockTime, timeZone: string, which: 'first' | 'last'): number {
  const offsets = [-1, 1].map((days) => offsetAt(clockTime + days * 1440 * minuteMs, timeZone));
  const candidates = [...new Set(offsets)].map((offset) => clockTime - offset).sort((a, b) => a - b);
  const shown = candidates.filter((time) => clockTimeAt(time, timeZone) === clockTime);
  const chosen = which === 'first' ? shown[0] : shown.at(-1);
  return chosen ?? findJump(candidates[0] ?? clockTime, candidates.at(-1) ?? clockTime, timeZone);
}

/**
 * The times at which clocks in a time zone show some clock times of one day: none for a clock time that clocks skip, two for one that
 * they show twice.
 */
export function timesOf(clockTimes: readonly ClockTime[], timeZone: string): number[] {
  const [day = 0] = clockTimes;
  const offsets = [...new Set([-1, 2].map((days) => offsetAt(day + days * 1440 * minuteMs, timeZone)))];
  const times = clockTimes.flatMap((clockTime) => offsets.map((offset) => clockTime - offset));
  if (offsets.length === 1) return times;
  const wanted = new Set(clockTimes);
  return [...new Set(times)].filter((time) => wanted.has(clockTimeAt(time, timeZone)));
}

function offsetAt(time: number, timeZone: string): number {
  return clockTimeAt(time, timeZone) - Math.floor(time / 1000) * 1000;
}

/** The minute between two times at which the offset of a time zone changes. */
function findJump(earliest: number, latest: number, timeZone: string): number {
  const before = offsetAt(earliest, timeZone);
  let [low, high] = [earliest, latest];
  while (high - low > minuteMs) {
    const middle = low + Math.floor((high - low) / (2 * minuteMs)) * minuteMs;
    if (offsetAt(middle, timeZone) === before) low = middle;
    else high = middle;
  }
  return high;
}
