import { type Html, html } from '#api/web/html.ts';
import type { ShownRun } from '../run-tab.ts';

export type ShownDetail = NonNullable<ShownRun['status_detail']>;

/** What failed, where, and the lines of the file that the tool showed. */
export function renderStatusDetail({ message, file, line, snippet, source }: ShownDetail): Html {
  const place =
    file === undefined ? null : html`<span class="mono">${file}${line === undefined ? null : `:${line}`}</span>`;
  return html`<div class="status-detail foreign"><p>${place}${place ? ' ' : null}<strong>${message}</strong>${source === 'tool' ? null : html` <span class="muted">(the service)</span>`}</p>${
    snippet === undefined
      ? null
      : html`<pre class="status-detail-snippet" tabindex="0" role="group" aria-label="Lines of the file">${snippet}</pre>`
  }</div>`;
}

/** The same failure in one line. */
export function renderShortDetail({ message, file, line }: ShownDetail): Html {
  return html`<span class="foreign">${file === undefined ? null : html`<span class="mono">${file}${line === undefined ? null : `:${line}`}</span> `}${message}</span>`;
}
