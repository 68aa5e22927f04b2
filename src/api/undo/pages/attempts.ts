import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import { renderTable } from '#api/web/components/table.ts';
import { renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { list } from '../operations.ts';
import { renderState, shownState } from './words.ts';

export type ShownAttempts = EncodedAnswerOf<(typeof list)['responses']>;
type Row = ShownAttempts['attempts'][number];

/** The earlier attempts at undoing a run; null if there are none. */
export function renderAttempts(
  attempts: readonly Row[],
  outdated: ReadonlySet<string>,
  succeeded: ReadonlySet<string>,
): Html | null {
  if (attempts.length === 0) return null;
  return html`<h2>Earlier checks</h2>
${renderTable<Row>({
  caption: 'Earlier checks',
  rows: attempts,
  columns: [
    {
      label: 'Check',
      kind: 'main',
      cell: ({ id, created_at: at }) => html`<a href="${pagePath(pages.selectiveUndo, { id })}">${renderAge(at)}</a>`,
    },
    { label: 'State', cell: (row) => renderState(shownState(row, outdated, succeeded)) },
    { label: 'Requested by', cell: ({ requested_by: by }) => html`<span class="foreign">${by.name}</span>` },
  ],
})}`;
}
