import { renderIcon } from '../components/icon.ts';
import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';

/** The maximum number of newer rows that a live list counts. */
export const maxNewer = 20;

/** Says above a live list how many rows were added since it was opened. The reader decides when to show them. */
export function renderNewer(newer: number, list: LocalPath): Html {
  const shown = newer >= maxNewer ? `${maxNewer} or more` : newer;
  return html`<p class="newer" role="status">${
    newer > 0 ? html`<a class="chip" href="${list}">${renderIcon('refresh-cw')}${shown} new – show</a>` : null
  }</p>`;
}

/** The first moment after a row was added. A live list with this row as its newest one shows only rows from before that moment. */
export function timeBehind(row: { readonly created_at: string | Date } | undefined): string | undefined {
  return row && new Date(new Date(row.created_at).getTime() + 1).toISOString();
}
