import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** How PostgreSQL begins a line of its log for `parseStatements`: the time, its process, the database, and the client's address and port. */
export const logLinePrefix = '%n [%p] %d %r ';
const line = /^(\d+\.\d+) \[(\d+)\] (\S*) (\S*) ([A-Z]+): {2}(.*)$/;
const statement = /^(?:statement|execute [^:]*): (.*)$/s;

/** A statement that a client sent, as `log_statement` logs it. */
export interface LoggedStatement {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The process id of PostgreSQL's process for the connection. */
  readonly backend: number;
  readonly database: string;
  /** The client's port; null for a connection that is not TCP. */
  readonly port: number | null;
  readonly text: string;
}

/** Reads the statements in a log whose lines begin with `logLinePrefix`. All other messages are left out. */
export function parseStatements(log: string): LoggedStatement[] {
  const entries: { readonly head: RegExpExecArray; text: string }[] = [];
  for (const each of log.split('\n')) {
    const head = line.exec(each);
    const last = entries.at(-1);
    if (head !== null) entries.push({ head, text: head[6] ?? '' });
    // PostgreSQL begins the further lines of a message with a tab.
    else if (last !== undefined && each.startsWith('\t')) last.text += `\n${each.slice(1)}`;
  }
  return entries.flatMap(({ head: [, at, backend, database = '', client = '', level], text }) => {
    const sent = level === 'LOG' ? statement.exec(text)?.[1] : undefined;
    if (sent === undefined) return [];
    const port = /\((\d+)\)$/.exec(client)?.[1];
    return [
      {
        at: Number(at) * 1000,
        backend: Number(backend),
        database,
        port: port === undefined ? null : Number(port),
        text: sent,
      },
    ];
  });
}

const reloadMs = 500;

/**
 * Has PostgreSQL log every statement of every connection while the work runs, and returns those of one database. Logging makes the service
 * slower: take no times meanwhile.
 */
export async function logStatements(
  { database, file }: { readonly database: pg.Pool | pg.ClientBase; readonly file: string },
  work: () => Promise<void>,
): Promise<LoggedStatement[]> {
  const from = statSync(file).size;
  await setSettings(database, ["set log_statement = 'all'", 'set log_parameter_max_length = 0']);
  try {
    await work();
  } finally {
    await setSettings(database, ['reset log_statement', 'reset log_parameter_max_length']);
  }
  const { rows } = await database.query('select current_database() as name');
  return parseStatements(readFrom(file, from)).filter((sent) => sent.database === rows[0].name);
}

async function setSettings(database: pg.Pool | pg.ClientBase, changes: readonly string[]): Promise<void> {
  for (const change of changes) await database.query(`alter system ${change}`);
  await database.query('select pg_reload_conf()');
  await sleep(reloadMs);
}

function readFrom(path: string, from: number): string {
  const file = openSync(path, 'r');
  try {
    const content = Buffer.alloc(fstatSync(file).size - from);
    readSync(file, content, 0, content.length, from);
    return content.toString();
  } finally {
    closeSync(file);
  }
}

const begin = /^\s*(begin|start transaction)\b/i;
const end = /^\s*(commit|rollback(?!\s+to\b)|end|abort)\b/i;

/** How much was sent. `bytes` are those of the texts, as the log has them: a prepared statement counts each time. */
export function sumStatements(sent: readonly LoggedStatement[]) {
  return {
    statements: sent.length,
    transactions: sent.filter(({ text }) => begin.test(text)).length,
    bytes: sent.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  };
}

/** The number of the transaction that each statement is in, in the order in which they begin; null for one outside of them. */
export function numberTransactions(sent: readonly LoggedStatement[]): (number | null)[] {
  const open = new Map<number, number>();
  let begun = 0;
  return sent.map(({ backend, text }) => {
    if (begin.test(text)) open.set(backend, ++begun);
    const number = open.get(backend) ?? null;
    if (end.test(text)) open.delete(backend);
    return number;
  });
}

/** How often each text was sent. */
export function countByText(sent: readonly LoggedStatement[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of sent) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
