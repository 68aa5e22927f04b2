import type { Fact } from '#api/web/components/facts.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { html } from '#api/web/html.ts';
import { pluralize } from '#api/web/text.ts';
import { describeTool } from '#api/workers/tool-words.ts';
import { describeOffered, describeWanted, type ShownFit } from '../../worker-fit.ts';

/** Which workers could execute the runs of a version now; nothing where that is not known. */
export function renderFit(fit: ShownFit | null): Fact[] {
  if (fit === null) return [];
  const { pool, tool, workers } = fit;
  const content = tool
    ? html`Runs with ${describeTool(tool)} on ${pluralize(workers, 'worker')} of the pool <span class="foreign">${pool}</span>.`
    : html`${renderIcon('triangle-alert')} No worker fits: it needs ${describeWanted(fit)}, and in the pool <span class="foreign">${pool}</span>, ${describeOffered(fit)}. Runs wait until one does.`;
  return [['Tool', content]];
}
