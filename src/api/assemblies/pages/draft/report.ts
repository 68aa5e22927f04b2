import { renderIcon } from '#api/web/components/icon.ts';
import { type Html, html } from '#api/web/html.ts';
import { toSentence } from '#api/web/text.ts';
import type { AssemblyEvaluator } from '#domain/assemblies/evaluation/assembly-evaluator.ts';
import { DraftUnreadable } from '#domain/assemblies/spec/text/parse.ts';
import { drawDraft } from '../../graph/spec-graph.ts';
import { renderGraph } from '../graph-view.ts';
import type { ShownReport } from '../shown.ts';

type Problem = ShownReport['errors'][number];

const maxListed = 100;

/** What a check found: the messages with links to their lines, and the drawing. A script replaces it after each pause in typing. */
export async function renderReport(evaluator: AssemblyEvaluator, text: string, report: ShownReport): Promise<Html> {
  const { valid, errors, warnings } = report;
  return html`<div class="draft-report stack" id="draft-report">
<section class="panel stack" aria-labelledby="draft-verdict">
<h2 id="draft-verdict">${renderIcon(valid ? 'circle-check' : 'octagon-x')}<span role="status">${describeVerdict(report)}</span></h2>
${renderProblems(errors, 'problem')}
${warnings.length > 0 ? html`<h3>Warnings</h3>${renderProblems(warnings, 'warning')}` : null}
</section>
<section class="panel graph-panel" aria-label="Drawing">${await renderDrawing(evaluator, text, errors)}</section>
</div>`;
}

function describeVerdict({ valid, errors, warnings }: ShownReport): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
  if (!valid) return `${count(errors.length, 'problem')} to fix before it can be published`;
  return warnings.length > 0 ? `Valid, with ${count(warnings.length, 'warning')}` : 'Valid: it can be published';
}

function renderProblems(problems: readonly Problem[], kind: string): Html | null {
  if (problems.length === 0) return null;
  const rest = problems.length - maxListed;
  return html`<ul class="draft-problems" role="list">${problems
    .toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0))
    .slice(0, maxListed)
    .map(
      ({ path, message, line, column }) =>
        html`<li class="draft-${kind}">${line === null ? null : html`<a href="#L${line}" data-line="${line}">Line ${line}${column === null ? null : html`, column ${column}`}</a> `}<span class="foreign">${toSentence(message)}</span>${path ? html` <code class="muted foreign">${path}</code>` : null}</li>`,
    )}</ul>${rest > 0 ? html`<p class="muted">${rest} more.</p>` : null}`;
}

/** Draws what can be read of the text. */
async function renderDrawing(evaluator: AssemblyEvaluator, text: string, errors: readonly Problem[]): Promise<Html> {
  try {
    const { value } = await evaluator.parseDraft(text);
    return renderGraph(await drawDraft(evaluator, value, errors));
  } catch (error) {
    if (error instanceof DraftUnreadable)
      return html`<p class="muted">The graph appears once the draft can be parsed.</p>`;
    throw error;
  }
}
