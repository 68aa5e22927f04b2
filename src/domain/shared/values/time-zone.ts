import { z } from 'zod';

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
