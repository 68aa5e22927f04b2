import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { dropMonth, makePartitions } from '#database/partitions.ts';
import { openDatabase } from '#open-database';
import { type Benchmark, interleave } from '../benchmark.ts';
import type { Testbed } from '../installation/testbed.ts';
import { percentile, type Sample } from '../report/statistics.ts';

const chunks = 50_000;
const chunkBytes = 4096;
const rowsPerDeletion = 1_000;
const month = '2021-03';
const mebibyte = 1024 * 1024;

export const retention: Benchmark = {
  name: 'retention',
  about:
    `A month of logs, ${chunks.toLocaleString('en')} chunks of ${chunkBytes / 1024} KiB, is removed by dropping its partition, as the service does, and by deleting its ` +
    `rows, ${rowsPerDeletion.toLocaleString('en')} in a transaction, as it would without partitions. Meanwhile one connection stores chunks of today, one after another; the figure is ` +
    'the slowest. "Freed" is what the table and its indexes lose on disk by the removal itself; deleted rows free nothing before a vacuum.',
  run: async (testbed) => {
    const databaseUrl = await testbed.createDatabase('retention');
    const database = new pg.Pool({ connectionString: databaseUrl, max: 4 });
    const orm = openDatabase({ databaseUrl, databasePoolSize: 4 });
    const drop = () => orm.em.fork().transactional((tx) => dropMonth(tx, 'run_log_chunks', month));
    const measure = async (remove: () => Promise<unknown>) => {
      await makePartitions(orm.em.fork(), new Date(`${month}-01T00:00:00Z`));
      await fillMonth(database);
      const sample = await measureRemoval(database, remove);
      await drop();
      return sample;
    };
    try {
      return await compare(testbed, { drop: () => measure(drop), rows: () => measure(() => deleteRows(database)) });
    } finally {
      await orm.close();
      await database.end();
    }
  },
};

async function compare(testbed: Testbed, { drop, rows }: Record<'drop' | 'rows', () => Promise<Sample>>) {
  const [service, other] = ['the month is dropped', 'its rows are deleted'];
  const figures = await interleave(testbed, { [service]: drop, [other]: rows });
  const row = (what: string, unit: string, figure: string) => ({
    what,
    unit,
    target: null,
    service: figures(service, figure),
    other: figures(other, figure),
  });
  return [
    row('a month of logs removed', 'ms', 'removed_ms'),
    { ...row('freed', 'MiB', 'freed_mib'), other: null },
    row('the slowest chunk stored meanwhile', 'ms', 'slowest_ms'),
    row('p99 of the chunks stored meanwhile', 'ms', 'p99_ms'),
  ];
}

async function fillMonth(database: pg.Pool): Promise<void> {
  await database.query(
    `insert into run_log_chunks (run_id, sequence, time, attempt_id, phase, stream, first_line, lines, content, checksum)
     select md5((n / 100)::text)::uuid, n, $1::timestamptz + n * interval '1 second', md5('attempt')::uuid, 'apply', 'stdout', n, 1,
            (select string_agg(sha512((n::text || part)::bytea), '') from generate_series(1, ${chunkBytes / 64}) part), ''
       from generate_series(1, ${chunks}) n`,
    [`${month}-02T00:00:00Z`],
  );
  await database.query('checkpoint');
}

async function measureRemoval(database: pg.Pool, remove: () => Promise<unknown>): Promise<Sample> {
  const before = await readSize(database);
  const stopped = new AbortController();
  const latencies = storeChunks(database, stopped.signal);
  await sleep(500);
  const began = performance.now();
  await remove();
  const removed = performance.now() - began;
  await sleep(500);
  stopped.abort();
  const all = await latencies;
  return {
    removed_ms: removed,
    freed_mib: (before - (await readSize(database))) / mebibyte,
    slowest_ms: Math.max(...all),
    p99_ms: percentile(all, 0.99),
  };
}

/** Stores chunks of today, one after another, and answers how long each took in milliseconds. */
async function storeChunks(database: pg.Pool, signal: AbortSignal): Promise<number[]> {
  const latencies: number[] = [];
  const [run, content] = [randomUUID(), Buffer.alloc(chunkBytes, 'x')];
  for (let sequence = 1; !signal.aborted; sequence += 1) {
    const began = performance.now();
    await database.query(
      `insert into run_log_chunks (run_id, sequence, time, attempt_id, phase, stream, first_line, lines, content, checksum)
       values ($1, $2, now(), $1, 'apply', 'stdout', $2, 1, $3, '')`,
      [run, sequence, content],
    );
    latencies.push(performance.now() - began);
  }
  return latencies;
}

async function deleteRows(database: pg.Pool): Promise<void> {
  for (;;) {
    const { rowCount } = await database.query(
      `delete from run_log_chunks where time < $1 and (run_id, sequence, time) in
         (select run_id, sequence, time from run_log_chunks where time < $1 limit ${rowsPerDeletion})`,
      ['2021-04-01T00:00:00Z'],
    );
    if (!rowCount) return;
  }
}

async function readSize(database: pg.Pool): Promise<number> {
  const { rows } = await database.query<{ bytes: string }>(
    `select sum(pg_total_relation_size(inhrelid))::text as bytes from pg_inherits where inhparent = 'run_log_chunks'::regclass`,
  );
  return Number(rows[0]?.bytes ?? 0);
}
