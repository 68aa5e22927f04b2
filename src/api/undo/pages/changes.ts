import { renderRunLink } from '#api/web/components/links/run-link.ts';
import { renderTable } from '#api/web/components/table.ts';
import { renderSides } from '#api/web/components/value-change/render-value.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLinkedText } from '#api/web/linked-text.ts';
import { toSentence } from '#api/web/text.ts';
import { newEffort } from '#domain/shared/values/comparison/compare.ts';
import { nameOfPath, renderVerdict, type ShownAttempt } from './labels.ts';

type Verdict = ShownAttempt['verdicts'][number];

/** Sorts verdicts by importance: those that prevent the undo come first. */
function byWeight(one: Verdict, other: Verdict): number {
  const isFree = ({ verdict }: Verdict) => verdict === 'clean' || verdict === 'kept';
  return Number(isFree(one)) - Number(isFree(other));
}

/** Each path that the run changed: how the undo would change it, and what prevents that. */
export function renderVerdicts({ verdicts, changes }: ShownAttempt): Html {
  if (verdicts.length === 0) return html`<p class="muted">The inputs of the run were not compared.</p>`;
  const changeAt = new Map(changes.map((change) => [change.path, change]));
  const effort = newEffort();
  const sides = ({ path }: Verdict) => {
    const change = changeAt.get(path);
    if (!change) return null;
    const kind = change.from === undefined ? 'added' : change.to === undefined ? 'removed' : 'changed';
    const shown = renderSides({ kind, before: change.from, after: change.to }, { maxCharacters: 4000, effort });
    return html`<div class="value-changes">${shown}</div>`;
  };
  return renderTable<Verdict>({
    caption: 'What the undo changes',
    rows: verdicts.toSorted(byWeight),
    columns: [
      { label: 'Input', kind: 'main', cell: ({ path }) => html`<code class="foreign">${nameOfPath(path)}</code>` },
      { label: 'Change', cell: sides },
      { label: 'Verdict', cell: ({ verdict }) => renderVerdict(verdict) },
      ...(verdicts.some(({ cause }) => cause) ? [{ label: 'Reason', cell: renderCause }] : []),
    ],
  });
}

function renderCause({ cause }: Verdict): Html | null {
  if (!cause) return null;
  const isNamed = cause.run_id !== null && cause.message.includes(`run ${cause.run_id}`);
  const link = cause.run_id === null || isNamed ? null : html` ${renderRunLink(cause.run_id)}`;
  return html`<span class="foreign">${renderLinkedText(toSentence(cause.message))}</span>${link}`;
}
