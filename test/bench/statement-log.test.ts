import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedPostgres, startPostgres } from '#local/postgres/postgres.ts';
import {
  countByText,
  logLinePrefix,
  logStatements,
  numberTransactions,
  parseStatements,
  sumStatements,
} from '../../bench/resources/statement-log.ts';

const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-statements-'));
const file = join(directory, 'postgres.log');
let postgres: EmbeddedPostgres;
let database: pg.Client;

beforeAll(async () => {
  const settings = { log_line_prefix: logLinePrefix };
  postgres = await startPostgres({ dataDir: directory, logFile: file, isDurable: false, sockets: null, settings });
  database = new pg.Client(postgres.url);
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await postgres?.stop();
  rmSync(directory, { recursive: true, force: true });
});

it('the statements of a connection that was open before are logged while the work runs, in order and with their text', async () => {
  await database.query("select 'before'");
  const before = Date.now();
  const sent = await logStatements({ database, file }, async () => {
    await database.query('begin');
    await database.query({ name: 'two lines', text: "select $1::text,\n\t'a line: with ERROR:  in it'" }, [
      'a secret value',
    ]);
    await database.query('select broken').catch(() => undefined);
    await database.query('rollback');
  });
  await database.query("select 'afterwards'");
  const own = sent.slice(0, 4);
  expect(own.map(({ text }) => text)).toEqual([
    'begin',
    "select $1::text,\n\t'a line: with ERROR:  in it'",
    'select broken',
    'rollback',
  ]);
  expect(new Set(own.map(({ backend }) => backend)).size).toBe(1);
  expect(own.every(({ at }) => at >= before - 1 && at <= Date.now())).toBe(true);
  expect(own.every(({ port }) => Number.isInteger(port))).toBe(true);
  expect(sent.some(({ text }) => text.includes('before') || text.includes('afterwards'))).toBe(false);
  expect(sumStatements(own)).toEqual({ statements: 4, transactions: 1, bytes: 72 });
});

it('the statements of other databases are left out', async () => {
  await database.query('create database other');
  const url = new URL(postgres.url);
  url.pathname = '/other';
  const other = new pg.Client(url.href);
  await other.connect();
  const sent = await logStatements({ database, file }, async () => {
    await other.query("select 'elsewhere'");
    await database.query("select 'here'");
  });
  await other.end();
  expect(sent.map(({ text }) => text)).toContain("select 'here'");
  expect(sent.map(({ text }) => text)).not.toContain("select 'elsewhere'");
});

it('messages that are no statements are left out, with their further lines', () => {
  const log = [
    '1796122989.100 [7] shop 127.0.0.1(4321) LOG:  execute <unnamed>: select 1',
    "1796122989.101 [7] shop 127.0.0.1(4321) DETAIL:  Parameters: $1 = 'a",
    "\tb'",
    '1796122989.102 [7] shop 127.0.0.1(4321) ERROR:  statement: this is no statement',
    '1796122989.103 [1]   LOG:  checkpoint starting: time',
    '1796122989.104 [8] shop [local] LOG:  statement: commit',
    '',
  ].join('\n');
  expect(parseStatements(log)).toEqual([
    { at: 1796122989100, backend: 7, database: 'shop', port: 4321, text: 'select 1' },
    { at: 1796122989104, backend: 8, database: 'shop', port: null, text: 'commit' },
  ]);
});

const sendOn = (backend: number, text: string) => ({ at: 0, backend, database: 'shop', port: null, text });

it('texts are counted', () => {
  const sent = ['a', 'bb', 'a'].map((text) => sendOn(1, text));
  expect([...countByText(sent)]).toEqual([
    ['a', 2],
    ['bb', 1],
  ]);
});

it('transactions that overlap are told apart, and what is in none', () => {
  const sent = [
    sendOn(1, 'begin ; set local "x" = 1'),
    sendOn(2, 'select 1'),
    sendOn(2, 'BEGIN'),
    sendOn(1, 'rollback to savepoint nested_1'),
    sendOn(2, 'commit'),
    sendOn(1, 'commit'),
    sendOn(1, 'select 2'),
  ];
  expect(numberTransactions(sent)).toEqual([1, null, 2, 1, 2, 1, null]);
});
