import { type Html, html } from '#api/web/html.ts';
import { isYes, yesIf } from './yes.ts';

/** A field of the kind `matrix`: one box for each row and column. */
export interface Matrix {
  /** The heading of the rows. */
  readonly heading: string;
  readonly columns: readonly { readonly name: string; readonly label: string }[];
  readonly rows: readonly MatrixRow[];
}

export interface MatrixRow {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** The columns that are checked in this row. */
  readonly ticked: ReadonlySet<string>;
}

/** The name of a box. It has no dot, because dots in field names lead into the body. */
export function boxName(row: string, column: string): string {
  return `${row.replaceAll('.', '-')}--${column}`;
}

/** The name of a hidden field that says that the form had this row. Browsers do not send unchecked boxes. */
function rowName(row: string): string {
  return `${row.replaceAll('.', '-')}--shown`;
}

/** The names of all fields of a matrix. */
export function matrixNames({ columns, rows }: Matrix): string[] {
  return rows.flatMap(({ name }) => [rowName(name), ...columns.map((column) => boxName(name, column.name))]);
}

/** The values that a matrix sends if nobody changes it. */
export function sentBoxes({ columns, rows }: Matrix): (readonly [name: string, value: string])[] {
  return rows.flatMap(({ name, ticked }) =>
    columns.map((column) => [boxName(name, column.name), yesIf(ticked.has(column.name))] as const),
  );
}

/** The columns that were checked in a row; undefined if the form did not have the row. */
export function readRow(
  typed: Readonly<Record<string, string>>,
  row: string,
  columns: readonly string[],
): ReadonlySet<string> | undefined {
  if (!isYes(typed[rowName(row)])) return undefined;
  return new Set(columns.filter((column) => isYes(typed[boxName(row, column)])));
}

/** A table of boxes. What was typed before overrides the matrix. */
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
    return html`<tr><th scope="row">${row.label}<input type="hidden" name="${rowName(row.name)}" value="${yesIf(true)}"><span class="field-hint">${row.hint}</span></th>${columns.map(
      (column) => html`<td>${renderBox(row, column, ticked.has(column.name))}</td>`,
    )}</tr>`;
  })}</tbody></table></div>`;
}

function renderBox(row: MatrixRow, column: Matrix['columns'][number], isTicked: boolean): Html {
  return html`<input type="checkbox" name="${boxName(row.name, column.name)}" value="${yesIf(true)}" aria-label="${row.label}: ${column.label}" ${isTicked ? html`checked` : null}>`;
}
