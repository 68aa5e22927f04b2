import pg from 'pg';

/** Reads tables that belong to others, by a connection of its own that ends with the reading. */
export interface ForeignReader {
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export { escapeIdentifier as quoteIdentifier } from 'pg';

/** How long it may take to connect. */
const connectMs = 2_000;

/**
 * Reads in one transaction that cannot write. What a hostile table makes PostgreSQL run, such as a function in an index, runs with the rights of the
 * role of the URL, and can leave nothing in a connection that is used for anything else.
 */
export async function readForeignTables<Result>(
  url: string,
  { statementMs }: { readonly statementMs: number },
  read: (reader: ForeignReader) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    // A server that no longer answers does not hold the reader longer than that.
    query_timeout: statementMs + connectMs,
    options: '-c search_path=pg_catalog -c default_transaction_read_only=on -c constraint_exclusion=off',
  });
  client.on('error', () => undefined); // The statement that waits fails with the same error.
  try {
    await client.connect();
    await client.query('begin transaction read only');
    return await read({
      rows: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
        (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows,
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}
