import { type Html, html } from '../html.ts';

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
const secondsFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });
const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** A time in UTC, for people and (`datetime`) for machines. A script shows it in the visitor's own time zone. */
export function renderTime(time: string): Html {
  return html`<time datetime="${time}">${format.format(new Date(time))} UTC</time>`;
}

/** Like `renderTime`, with seconds, for events that may be less than a minute apart. */
export function renderTimeWithSeconds(time: string): Html {
  return html`<time datetime="${time}" data-seconds>${secondsFormat.format(new Date(time))} UTC</time>`;
}

/** The time of the next occurrence. If it is already due, says that it happens at the next opportunity. */
export function renderNextTime(time: string): Html | string {
  return Date.parse(time) <= Date.now() ? 'As soon as possible' : renderTime(time);
}

/** The time at which a message is tried again. @param isPaused it waits only because the last attempt at its destination failed */
export function renderNextAttempt(time: string, isPaused: boolean): Html {
  const pause = html` <span class="muted">paused, because the last attempt failed</span>`;
  return html`${renderNextTime(time)}${isPaused ? pause : null}`;
}

/** A time whose age matters most. A script shows the age, if it is less than a day. */
export function renderAge(time: string): Html {
  return html`<time datetime="${time}" data-relative>${format.format(new Date(time))} UTC</time>`;
}

/** The time since when something lasts. A script shows the duration, if it is less than a day. */
export function renderSince(time: string): Html {
  return html`<time datetime="${time}" data-lasting>since ${format.format(new Date(time))} UTC</time>`;
}

/** Like `renderAge`, for places with little space: an older time shows only its day, and the exact time in a tooltip. */
export function renderAgeByDay(time: string): Html {
  return html`<time datetime="${time}" data-relative data-day-only>${dayFormat.format(new Date(time))}</time>`;
}

/** A duration, such as "1 min 12 s". @param milliseconds not negative */
export function formatSpan(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ] as const;
  const first = parts.findIndex(([number]) => number > 0);
  return parts
    .slice(first, first + 2)
    .filter(([number]) => number > 0)
    .map(([number, unit]) => `${number} ${unit}`)
    .join(' ');
}

/** A duration in one unit, for a column of numbers: "52 s", "17 min", "1.9 h", "7 d". */
export function formatShortSpan(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400) return `${(seconds / 3600).toFixed(1)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** How long something took, for a column of durations; null if it has not begun or not ended. */
export function renderDuration({ started_at: start, finished_at: end }: Took): Html | null {
  if (start === null || end === null) return null;
  const took = Date.parse(end) - Date.parse(start);
  return html`<span title="${formatSpan(took)}">${formatShortSpan(took)}</span>`;
}

interface Took {
  readonly started_at: string | null;
  readonly finished_at: string | null;
}
