import { type Html, html } from '#api/web/html.ts';
import type { LocalPath } from '#api/web/paths.ts';
import { formatCount } from '#api/web/text.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { ShownRun } from '../run-tab.ts';
import { renderOutputs } from './values.ts';

/** How many outputs are at the beginning of a page. */
const maxFirst = 8;

interface Ended {
  readonly status: RunStatus;
  readonly outputs: ShownRun['outputs'];
}

/** What a run came to, above everything else about it, once it has succeeded; null where it gave no outputs. `all` shows every output. */
export function renderResult({ status, outputs }: Ended, all: LocalPath): Html | null {
  const entries = Object.entries(outputs);
  if (status !== 'succeeded' || entries.length === 0) return null;
  const more =
    entries.length > maxFirst
      ? html`<p><a href="${all}">Show all ${formatCount(entries.length)} outputs</a></p>`
      : null;
  return html`<section class="panel run-section" aria-labelledby="result"><h2 id="result">Outputs</h2>${renderOutputs(Object.fromEntries(entries.slice(0, maxFirst)))}${more}</section>`;
}
