import { type Html, html } from '#api/web/html.ts';

/** What a field of the kind `matrix` asks: one box for each row and column. */
export interface Matrix {
  /** What the rows are. */
  readonly heading: string;
  readonly columns: readonly { readonly name: string; readonly label: string }[];
  readonly rows: readonly MatrixRow[];
}

export interface MatrixRow {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** The columns that are ticked in this row. */
  readonly ticked: ReadonlySet<string>;
}

/** The name of a box. Names of fields cannot have dots: those lead into the body. */
export function boxName(row: string, column: string): string {
  return `${row.replaceAll('.', '-')}--${column}`;
}

/** Says that the form that was sent had the row: a box that is not ticked is not sent. */
function rowName(row: string): string {
  return `${row.replaceAll('.', '-')}--shown`;
}

/** The names of everything that a matrix sends. */
export function matrixNames({ columns, rows }: Matrix): string[] {
  return rows.flatMap(({ name }) => [rowName(name), ...columns.map((column) => boxName(name, column.name))]);
}

/** What the boxes of a matrix send if nobody changes them. */
export function sentBoxes({ columns, rows }: Matrix): (readonly [name: string, value: string])[] {
  return rows.flatMap(({ name, ticked }) =>
    columns.map((column) => [boxName(name, column.name), ticked.has(column.name) ? 'yes' : ''] as const),
  );
}

/** The columns that were ticked in a row; undefined if the form did not have the row. */
export function readRow(
  typed: Readonly<Record<string, string>>,
  row: string,
  columns: readonly string[],
): ReadonlySet<string> | undefined {
  if (typed[rowName(row)] !== 'yes') return undefined;
  return new Set(columns.filter((column) => typed[boxName(row, column)] === 'yes'));
}

/** A table of boxes. What was typed before wins. */
export function renderMatrix(
  { heading, columns, rows }: Matrix,
  {
    id,
    label,
    typed,
  }: { readonly id: string; readonly label: string; readonly typed: Readonly<Record<string, string>> },
): Html {
  const names = columns.map(({ name }) => name);
  return html`<div class="field"><table class="matrix" id="${id}"><caption class="unseen">${label}</caption>
<thead><tr><th scope="col">${heading}</th>${columns.map((column) => html`<th scope="col">${column.label}</th>`)}</tr></thead>
<tbody>${rows.map((row) => {
    const ticked = readRow(typed, row.name, names) ?? row.ticked;
    return html`<tr><th scope="row">${row.label}<input type="hidden" name="${rowName(row.name)}" value="yes"><span class="field-hint">${row.hint}</span></th>${columns.map(
      (column) => html`<td>${renderBox(row, column, ticked.has(column.name))}</td>`,
    )}</tr>`;
  })}</tbody></table></div>`;
}

function renderBox(row: MatrixRow, column: Matrix['columns'][number], isTicked: boolean): Html {
  return html`<input type="checkbox" name="${boxName(row.name, column.name)}" value="yes" aria-label="${row.label}: ${column.label}" ${isTicked ? html`checked` : null}>`;
}
