import { type Html, html } from '../html.ts';
import type { LocalPath, Query } from '../paths.ts';

export interface Column<Row> {
  readonly label: string;
  /** The content of the cell; null leaves it empty, and on a phone, the cell is left out. */
  readonly cell: (row: Row) => Html | string | null;
  /** `number` is aligned to the right; `minor` is left out on a phone; `main` contains the name of the row. */
  readonly kind?: 'main' | 'number' | 'minor';
}

export interface Table<Row> {
  /** Describes the rows for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** The id of a row's element, so that an update keeps the row. */
  readonly rowId?: (row: Row) => string;
}

/**
 * A table. The keys j and k move through its rows, and Enter follows the first link of a row. On a phone, each row becomes a block. The
 * roles are explicit because browsers drop those of a table with another layout.
 */
export function renderTable<Row>({ caption, columns, rows, rowId }: Table<Row>): Html {
  return html`<table class="list" role="table"><caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(({ label, kind }) => html`<th role="columnheader" scope="col" ${kindClass(kind)}>${label}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map(
    (row) =>
      html`<tr role="row" data-row ${rowId ? html`id="${rowId(row)}"` : null}>${columns.map((column) => renderCell(column, row))}</tr>
`,
  )}</tbody>
</table>`;
}

function renderCell<Row>({ label, cell, kind }: Column<Row>, row: Row): Html {
  const content = cell(row);
  const isEmpty = content === null || content === '';
  return html`<td role="cell" data-label="${label}" ${kindClass(kind)} ${isEmpty ? html`data-empty` : null}>${content}</td>`;
}

function kindClass(kind: Column<unknown>['kind']): Html | null {
  return kind ? html`class="cell-${kind}"` : null;
}

/** The links to the first and to the next page of a list. Null where the list has one page. */
export function renderPager({
  first,
  next,
}: {
  readonly first: LocalPath | null;
  readonly next: LocalPath | null;
}): Html | null {
  if (!first && !next) return null;
  return html`<nav class="pager" aria-label="Pages">
${first ? html`<a class="button button-small" href="${first}">First page</a>` : null}
${next ? html`<a class="button button-small" href="${next}" rel="next">Next page</a>` : null}
</nav>`;
}

/** The links between the pages of a list. `link` makes the address of the list for a cursor; without one, for its first page. */
export function renderPages(
  { cursor, next }: { readonly cursor: string | undefined; readonly next: string | null },
  link: (query: Query) => LocalPath,
  name = 'cursor',
): Html | null {
  return renderPager({ first: cursor ? link({}) : null, next: next ? link({ [name]: next }) : null });
}

/** Shown for a list without rows: what belongs there, and the first step. */
export function renderEmpty(title: string, explanation: Html | string, action: Html | null = null): Html {
  return html`<div class="empty"><p class="empty-title">${title}</p><p class="muted">${explanation}</p>${action}</div>`;
}
