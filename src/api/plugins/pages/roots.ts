import { type Html, html } from '#api/web/html.ts';
import type { Root } from '#domain/plugins/model.ts';

/** The tables that contain the data of a resource, in rows with its key. */
export function renderRoots(roots: readonly Root[]): Html {
  if (roots.length === 0) return html`<span class="muted">none</span>`;
  return html`${roots.map(({ schema, table, key }) => html`<div><code class="foreign">${schema}.${table}</code> <span class="muted">by</span> <code class="foreign">${key}</code></div>`)}`;
}
