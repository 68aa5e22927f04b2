import { columnsOf } from './compiler.ts';
import type { Em } from './database.ts';
import { type PreparedQuery, renumber, send } from './queries.ts';

/** The first row of each of two queries. */
export interface JoinedRows<First, Second> {
  readonly first: First;
  readonly second: Second | undefined;
}

/** The text of two queries as one, and how to read its rows. */
interface JoinedText {
  readonly sql: string;
  readonly first: readonly string[];
  readonly second: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: any prepared query is a key
type AnyQuery = PreparedQuery<any, any>;
const texts = new WeakMap<AnyQuery, WeakMap<AnyQuery, JoinedText>>();

/**
 * Runs two queries as one statement, so that both see the database at the same moment. The second one runs only if the first finds a row.
 * Undefined if the first finds none.
 */
export async function runJoined<P1 extends object, First, P2 extends object, Second>(
  em: Em,
  [first, ofFirst]: readonly [PreparedQuery<P1, First>, P1],
  [second, ofSecond]: readonly [PreparedQuery<P2, Second>, P2],
): Promise<JoinedRows<First, Second> | undefined> {
  const [one, two] = [first.statement(ofFirst).compile(), second.statement(ofSecond).compile()];
  const known = texts.get(first) ?? new WeakMap<AnyQuery, JoinedText>();
  const text = known.get(second) ?? join(one, two);
  texts.set(first, known.set(second, text));
  const { rows } = await send(em, text.sql, [...one.parameters, ...two.parameters], 'lists');
  const [row] = rows as unknown as (readonly unknown[])[];
  if (!row) return undefined;
  const isFound = row[text.first.length] === true;
  return {
    first: toRow<First>(text.first, row, 0),
    second: isFound ? toRow<Second>(text.second, row, text.first.length + 1) : undefined,
  };
}

type Compiled = ReturnType<ReturnType<AnyQuery['statement']>['compile']>;

/** Joins the texts. The column `found` is true if the second query has a row, even one whose columns are all null. */
function join(one: Compiled, two: Compiled): JoinedText {
  const [first, second] = [columnsOf(one.query), columnsOf(two.query)];
  const columns = [...listOf('a', first), '"b"."found"', ...listOf('b', second)];
  const other = renumber(two.sql, one.parameters.length);
  const sql = `select ${columns.join(', ')} from (${one.sql}) as "a" left join (select true as "found", ${listOf('c', second).join(', ')} from (${other}) as "c") as "b" on true`;
  return { sql, first, second };
}

function listOf(table: string, columns: readonly string[]): string[] {
  return columns.map((column) => `"${table}"."${column}"`);
}

function toRow<Row>(columns: readonly string[], values: readonly unknown[], from: number): Row {
  const row: Record<string, unknown> = {};
  columns.forEach((column, index) => {
    row[column] = values[from + index];
  });
  return row as Row;
}
