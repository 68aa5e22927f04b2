import { type Html, html } from '../html.ts';

/** A problem with the submitted form. Screen readers announce it at once. */
export function renderAlert(id: string, text: string): Html {
  return html`<p class="notice notice-problem" id="${id}" role="alert">${problemIcon}<span>${text}</span></p>`;
}

/** The result of the last action. Screen readers announce it politely. */
export function renderStatus(text: Html | string): Html {
  return html`<p class="notice" role="status">${text}</p>`;
}

/** The icon before the text of a problem. */
export const problemIcon = html`<svg class="shape" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d="M8.3 3h7.4L21 8.3v7.4L15.7 21H8.3L3 15.7V8.3z"/><path d="m9.2 9.2 5.6 5.6m0-5.6-5.6 5.6"/></svg>`;
