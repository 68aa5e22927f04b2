import { type Html, html } from '#api/web/html.ts';
import type { LocalPath } from '#api/web/paths.ts';
import { formatCount } from '#api/web/text.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import type { ShownRun } from '../run-tab.ts';
import { renderOutputs } from './values.ts';

/** How many outputs the top of the page shows. */
const maxFirst = 8;

interface Ended {
  readonly status: RunStatus;
  readonly outputs: ShownRun['outputs'];
}

/** The outputs of a run that succeeded, above all other facts; null if there are none. `all` links to the complete list. */
export function renderResult({ status, outputs }: Ended, all: LocalPath): Html | null {
  const entries = Object.entries(outputs);
  if (status !== 'succeeded' || entries.length === 0) return null;
  const more =
    entries.length > maxFirst
      ? html`<p><a href="${all}">Show all ${formatCount(entries.length)} outputs</a></p>`
      : null;
  return html`<section class="panel run-section" aria-labelledby="result"><h2 id="result">Outputs</h2>${renderOutputs(Object.fromEntries(entries.slice(0, maxFirst)))}${more}</section>`;
}
