import { type Html, html } from './html.ts';

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A time in UTC, for people and (`datetime`) for machines. */
export function renderTime(time: string): Html {
  return html`<time datetime="${time}">${format.format(new Date(time))} UTC</time>`;
}
