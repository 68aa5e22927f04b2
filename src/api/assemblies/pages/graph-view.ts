import { raw } from 'hono/html';
import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import type { GraphPicture } from '../graph/svg-graph.ts';

/** The script that moves between the nodes of a graph by arrow keys. Pages with a graph name it in `scripts`. */
export const graphScript = 'graph.js';

/**
 * A graph in a frame that scrolls if the graph is larger, and a note that says so. The script hides the note if the graph fits. This
 * service makes the drawing, and escapes names in it.
 */
export function renderGraph({ svg, caption }: GraphPicture, label = 'Graph'): Html {
  return html`<figure class="graph-frame"><div class="graph-scroll" role="region" tabindex="0" aria-label="${label}" data-graph>${raw(svg)}</div>
<p class="graph-hint muted" data-graph-hint>${renderIcon('arrow-right')}Scroll inside the graph to see all of it.</p>
${caption ? html`<figcaption class="muted">Shows ${caption}. The table has all.</figcaption>` : null}</figure>`;
}

/** The threads that read, compare and draw specs for the visitor. */
export function evaluatorOf({ context, principal }: Pick<Visit, 'context' | 'principal'>): AssemblyEvaluator {
  return new AssemblyEvaluator(context.services.evaluator, limitSubjectOfCaller(principal));
}
