import pg from 'pg';

/** Reads foreign tables through a connection of its own, which is closed afterwards. */
export interface ForeignReader {
  /** @throws OutOfTime once the time limit has passed */
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Limits the time of all following statements together, within what is left of the total. */
  limit(ms: number): void;
}

/** The time limit for the reading has passed. */
export class OutOfTime extends Error {}

export { escapeIdentifier as quoteIdentifier } from 'pg';

/** How long it may take to connect. */
const connectMs = 2_000;

/**
 * Reads in one transaction that cannot write. A hostile table can make PostgreSQL execute code, such as a function in an index. That code
 * runs with the rights of the URL's role, and can leave nothing in a connection that is used for anything else.
 * @param totalMs the time limit for all statements together
 */
export async function readForeignTables<Result>(
  url: string,
  { totalMs }: { readonly totalMs: number },
  read: (reader: ForeignReader) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    // A server that does not respond does not delay the reader longer than that.
    query_timeout: totalMs + connectMs,
    options: '-c search_path=pg_catalog -c default_transaction_read_only=on -c constraint_exclusion=off',
  });
  client.on('error', () => undefined); // The statement that waits fails with the same error.
  try {
    await client.connect();
    await client.query('begin transaction read only');
    return await read(toReader(client, Date.now() + totalMs));
  } finally {
    await client.end().catch(() => undefined);
  }
}

function toReader(client: pg.Client, end: number): ForeignReader {
  let deadline = end;
  return {
    limit: (ms) => {
      deadline = Math.min(end, Date.now() + ms);
    },
    rows: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
      const leftMs = deadline - Date.now();
      if (leftMs <= 0) throw new OutOfTime('the time for reading is over');
      await client.query(`set statement_timeout = ${leftMs}`);
      return (await client.query<Row & pg.QueryResultRow>(text, [...values])).rows;
    },
  };
}
