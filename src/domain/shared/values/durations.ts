import { z } from 'zod';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const week = 7 * day;

/** The maximum length of a duration in characters. The limit also keeps every sum an exact integer. */
const maxTextLength = 40;

const iso = /^P(?:(\d+)W|(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?)$/;
const short = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/;
const units = [week, day, hour, minute, 1] as const;

/**
 * Seconds of a duration, written in ISO 8601 (`PT30M`, `P1DT2H`, `P2W`) or short (`30m`, `1h30m`, `2d`); null if the text is
 * neither. Years and months are refused because their length varies, and fractions because nothing needs them.
 */
export function parseDuration(text: string): number | null {
  if (text.length > maxTextLength || text === '' || text === 'P') return null;
  const [, ...amounts] = iso.exec(text) ?? short.exec(text) ?? [];
  if (amounts.length === 0) return null;
  const seconds = units.reduce((sum, unit, index) => sum + Number(amounts[index] ?? 0) * unit, 0);
  return Number.isSafeInteger(seconds) ? seconds : null;
}

/** Whole seconds in ISO 8601, in the largest units that fit: 5400 → `PT1H30M`, 0 → `PT0S`. */
export function formatDuration(seconds: number): string {
  const days = Math.floor(seconds / day);
  const hours = Math.floor((seconds % day) / hour);
  const minutes = Math.floor((seconds % hour) / minute);
  const rest = seconds % minute;
  const time = `${hours ? `${hours}H` : ''}${minutes ? `${minutes}M` : ''}${rest ? `${rest}S` : ''}`;
  if (days === 0 && time === '') return 'PT0S';
  return `P${days ? `${days}D` : ''}${time ? `T${time}` : ''}`;
}

/** Whole seconds in hours, minutes and seconds, for messages: 3 → `3 s`, 5400 → `1 h 30 min`. */
export function describeDuration(seconds: number): string {
  const amounts = [
    { amount: Math.floor(seconds / hour), unit: 'h' },
    { amount: Math.floor((seconds % hour) / minute), unit: 'min' },
    { amount: seconds % minute, unit: 's' },
  ].filter(({ amount }) => amount > 0);
  return amounts.map(({ amount, unit }) => `${amount} ${unit}`).join(' ') || '0 s';
}

/** The schema of a duration in a request. The text is kept as it was written. Both bounds are in seconds and inclusive. */
export function durationBetween(min: number, max: number) {
  const range = `between ${shorten(formatDuration(min))} and ${shorten(formatDuration(max))}`;
  const example = formatDuration(usualDurations.find((seconds) => seconds >= min && seconds <= max) ?? max);
  return z
    .string()
    .refine(
      (text) => {
        const seconds = parseDuration(text);
        return seconds !== null && seconds >= min && seconds <= max;
      },
      { error: `expected a duration ${range}, such as "${shorten(example)}" or "${example}"` },
    )
    .meta({ format: 'duration', example });
}

/** Durations for examples; a schema uses the first one within its bounds. */
const usualDurations = [30 * minute, 30, day];

/** The short form of a duration in ISO 8601: `P1DT2H` → `1d2h`. */
function shorten(duration: string): string {
  return duration.replaceAll(/[PT]/g, '').toLowerCase();
}
