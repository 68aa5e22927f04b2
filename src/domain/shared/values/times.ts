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
export const TimeInput = z.iso.datetime({ offset: true }).refine(isInYears, { error });

/** A time in a request, or a day, which means its first moment in UTC. */
export const TimeOrDay = z.iso.datetime({ offset: true }).or(z.iso.date()).refine(isInYears, { error });

/** Whether a text is a time in UTC (`Z`) that PostgreSQL can store. */
export function isStorableTime(text: string): boolean {
  return text.endsWith('Z') && TimeInput.safeParse(text).success;
}
