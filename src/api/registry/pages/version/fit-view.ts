import type { Fact } from '#api/web/components/facts.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import { pluralize } from '#api/web/text.ts';
import { describeTool } from '#api/workers/tool-words.ts';
import { describeOffered, describeWanted, type ShownFit } from '../../worker-fit.ts';

/** The workers that could execute the runs of a version now; empty if they are unknown. */
export function renderFit(fit: ShownFit | null): Fact[] {
  if (fit === null) return [];
  const { pool, tool, workers } = fit;
  const content = tool
    ? html`Runs with ${describeTool(tool)} on ${pluralize(workers, 'worker')} of the pool <span class="foreign">${pool}</span>.`
    : html`No worker of the pool <span class="foreign">${pool}</span> fits. Runs need ${describeWanted(fit)}, and ${describeOffered(fit)}. They wait until a worker fits.`;
  return [['Tool', content]];
}

/** Warns if no worker could execute a run now; null if one could, or if that is unknown. */
export function renderUnfit(fit: ShownFit | null): Html | null {
  if (fit === null || fit.tool !== null) return null;
  return html`<div class="notice notice-wait">${renderIcon('triangle-alert')}<p><strong>No live worker of the pool <span class="foreign">${fit.pool}</span> has ${describeWanted(fit)}.</strong> A run would wait until a worker has it, and later runs of the instance would wait behind it.</p></div>`;
}
