import { type Html, html } from '../html.ts';

/** Says how many rows a table leaves out because the visitor may not read them; null if none. */
export function renderHidden(count: number, one: string, many: string): Html | null {
  if (count === 0) return null;
  return html`<p class="muted">${count === 1 ? `One more ${one}` : `${count} more ${many}`} you cannot see.</p>`;
}
